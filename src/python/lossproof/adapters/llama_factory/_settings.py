"""LLaMA-Factory's names in the words of the protocol, and which of them are chosen."""

import os

from lossproof.adapters.common._settings import chosen, declared

BETA = 0.1  # pref_beta, LLaMA-Factory's default, as is the next
SIMPO_GAMMA = 0.5

# Which answers are trained: by default every one, with mask_history the last, with train_on_prompt everything.
TARGETS = {"assistant": {}, "last-assistant": {"mask_history": True}, "all": {"train_on_prompt": True}}
# `formatting` of a data set whose messages have a role and a content.
FORMATS = {"sharegpt": {}, "openai": {}}
# pref_loss; ORPO is none of the known formulas.
OBJECTIVES = {
    "sigmoid": {"preference_objective": "dpo", "preference_label_smoothing": 0.0},
    "hinge": {"preference_objective": "hinge"},
    "ipo": {"preference_objective": "ipo"},
    "simpo": {"preference_objective": "simpo", "preference_gamma": SIMPO_GAMMA / BETA},
    "orpo": {"own_formulas": ["preference_loss"]},
}
# What is trained of a token's log-probability: the cross-entropy, or use_dft_loss and use_asft_loss, which weigh it.
LOSSES = {"ce": {}, "dft": {"sft_objective": "dft"}, "asft": {"own_formulas": ["sft_loss"]}}

DATA = chosen("LOSSPROOF_DATA", TARGETS)
FORMAT = chosen("LOSSPROOF_FORMAT", FORMATS)
OBJECTIVE = chosen("LOSSPROOF_OBJECTIVE", OBJECTIVES)
LOSS = chosen("LOSSPROOF_LOSS", LOSSES)
# One of the templates that it is published with; none: the tokenizer's own chat template is read, as where `template` is not set.
TEMPLATE = os.environ.get("LOSSPROOF_TEMPLATE") or None

SEMANTICS = declared(
    {
        "sft_target": DATA,
        "sft_aggregation": "token-mean",
        "loss_normalization": "global",
        "stop_token_in_mask": True,
        "temperature_in_scoring": False,
        "overlong": "truncate",
        "preference_beta": BETA,
        "reward_centering": 0.0,
    },
    [OBJECTIVES[OBJECTIVE], LOSSES[LOSS]],
)
