"""PriorZeroPolicy around a tokenizer and a model, as its own _init_learn makes it."""

from types import SimpleNamespace

from lossproof.adapters.common._checkout import Quiet
from lossproof.adapters.common._standin import codec_of
from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, tokenizer_folder, transformers
from lossproof.adapters.priorzero._outside import WorldModel
from lossproof.adapters.priorzero._parts import policy
from lossproof.testing import Settings, Table, instance, replaced

import torch

FOLDER = tokenizer_folder()
load_tokenizer(FOLDER)  # says what it lacks

# As get_priorzero_config has them, but for the weights of the two losses: each is looked at alone.
RELEASED = Settings(
    llm_learning_rate=1e-6,
    llm_weight_decay=0.01,
    llm_loss_weight=1.0,
    rft_loss_weight=1.0,
    llm_micro_batch_size=4,
    llm_gradient_accumulation_steps=8,
    pretrain_llm_path=str(FOLDER),
    prompt_max_len=2048,
    history_length=5,
    use_cot=True,
    use_lora=False,
    sft_target="mcts_policy",
    enable_rft=True,
)
ACTIONS = 128  # one for each row of a batch, which it names


def learner(model, tokenizer=None, **settings):
    """A policy that learns; tokenizer: instead of the one in the folder. settings: of its llm_policy_cfg."""
    chosen = Settings({**RELEASED, **settings})
    world = WorldModel()
    made = instance(
        policy.PriorZeroPolicy,
        _cfg=Settings(
            device="cpu",
            batch_size=1,
            grad_clip_value=float("inf"),
            llm_policy_cfg=chosen,
            model=Settings(action_space_size=ACTIONS),
        ),
        llm_policy_cfg=chosen,
        value_support=Quiet(),
        reward_support=Quiet(),
        value_inverse_scalar_transform_handle=Quiet(),
        reward_inverse_scalar_transform_handle=Quiet(),
        _learn_model=world,
        _target_model=world,
        _optimizer_world_model=torch.optim.SGD(world.parameters(), lr=0.0),
        _train_iteration=0,
    )

    def from_folder(_, padding_side=None, **__):
        if tokenizer is None:
            found = transformers.PreTrainedTokenizerFast.from_pretrained(FOLDER)
        else:
            found = tokenizer
        found.padding_side = padding_side or found.padding_side
        return found

    loaders = {
        "AutoTokenizer": SimpleNamespace(from_pretrained=from_folder),
        "AutoModelForCausalLM": SimpleNamespace(from_pretrained=lambda *_, **__: model),
    }
    with replaced(policy, **loaders):
        made._init_learn()
    return made


# The tokenizer as the trainer leaves it: it may give it a pad token.
tokenizer = None if policy is None else learner(Table(lambda *_: None)).llm_tokenizer
tokens = None if tokenizer is None else declared_tokens(tokenizer)
codec = None if tokens is None else codec_of(tokens)
if codec is not None:
    codec.apply_chat_template = lambda messages, **_: messages[0]["content"]
