"""OpenRLHF's names in the words of the protocol, and which of them are chosen."""

from lossproof.adapters.common._settings import chosen, declared

BETA = 0.04  # of the KL in the loss; any value but 0 shows it
ENTROPY_COEF = 0.01
DPO_BETA = 0.1  # OpenRLHF's default, as is the next
VALUE_CLIP = 0.5

# What is subtracted from a reward, and what divides it.
ESTIMATORS = {
    "group_norm": {
        "advantage_baseline": "group-mean",
        "advantage_scaling": "group",
        "advantage_ddof": 1,
        "advantage_epsilon": 1e-9,
    },
    "rloo": {"advantage_baseline": "leave-one-out", "advantage_scaling": "none"},
    "dr_grpo": {"advantage_baseline": "group-mean", "advantage_scaling": "none"},
    "flash_reinforce": {"advantage_baseline": "batch-mean", "advantage_scaling": "none"},
    # Normalised over tokens with their number, under a floor of the variance: formulas of their own.
    "reinforce_baseline": {"own_formulas": ["advantages"], "advantage_baseline": "group-mean"},
    "reinforce": {"own_formulas": ["advantages"], "advantage_baseline": "batch-mean"},
}
AGGREGATIONS = {name: {"loss_aggregation": name} for name in ("token-mean", "seq-mean-token-mean")}
POLICIES = {
    "ppo": {"ratio_level": "token", "policy_objective": "clip", "log_ratio_clamp": 20.0},
    "gspo": {"ratio_level": "sequence", "policy_objective": "clip", "loss_aggregation": "seq-mean-token-mean"},
}
TARGETS = {"multiturn": {"sft_target": "assistant"}, "last": {"sft_target": "last-assistant"}}
OBJECTIVES = {"dpo": {"preference_objective": "dpo"}, "ipo": {"preference_objective": "ipo", "own_formulas": ["preference_loss"]}}

ESTIMATOR = chosen("LOSSPROOF_ADVANTAGE", ESTIMATORS)
AGGREGATION = chosen("LOSSPROOF_LOSS", AGGREGATIONS)
POLICY = chosen("LOSSPROOF_POLICY", POLICIES)
DATA = chosen("LOSSPROOF_DATA", TARGETS)
OBJECTIVE = chosen("LOSSPROOF_OBJECTIVE", OBJECTIVES)

SEMANTICS = declared(
    {
        "stop_token_in_mask": True,
        "kl_estimator": "k3",
        "kl_clamp": {"k1": 10.0, "k2": 10.0, "k3": 10.0},  # one line, behind all of them
        "kl_placement": "loss",
        "kl_coef": BETA,
        "clip_low": 0.2,
        "clip_high": 0.2,
        "dual_clip": None,
        "entropy_coef": ENTROPY_COEF,
        "loss_normalization": "global",
        "sft_aggregation": "token-mean",
        "filter_equal_rewards": "keep",
        "filter_truncated": "keep",
        "filter_long": "keep",
        "filter_rewards": "groups",
        "whiten_mean": True,
        "whiten_ddof": 0,
        "temperature_in_scoring": True,
        "preference_beta": DPO_BETA,
        "preference_label_smoothing": 0.0,
        "reward_centering": 0.0,
        "value_clip": VALUE_CLIP,
        "value_loss_factor": 0.5,
        "value_aggregation": "token-mean",
    },
    [ESTIMATORS[ESTIMATOR], AGGREGATIONS[AGGREGATION], POLICIES[POLICY], TARGETS[DATA], OBJECTIVES[OBJECTIVE]],
)
