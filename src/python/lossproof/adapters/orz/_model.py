"""The tokenizer as the experiment loads it, one of single characters with the same ids, trainers around either, and models."""

from types import SimpleNamespace

from lossproof.adapters.common._checkout import Quiet
from lossproof.adapters.common._standin import codec_of
from lossproof.adapters.common._tiny import declared_tokens, load_tokenizer, tiny_model, tokenizer_folder, transformers
from lossproof.adapters.orz._outside import Packed, on_cpu
from lossproof.adapters.orz._parts import actors, base, experiment, models
from lossproof.adapters.orz._settings import PACKED, RELEASED
from lossproof.testing import Settings, instance, replaced

FOLDER = tokenizer_folder()


def released(**settings):
    """The fields of the released configuration, but for these."""
    fields = {name: getattr(RELEASED, name) for name in RELEASED.__dataclass_fields__ if hasattr(RELEASED, name)}
    return Settings({**fields, "colocate_all": False, "n_samples_per_prompt": 1, **settings})


def as_loaded():
    """By BasePPOExp.tokenizer: it chooses the pad token and the side of the padding."""
    loader = SimpleNamespace(from_pretrained=lambda *_, **__: load_tokenizer(FOLDER))
    with replaced(base, AutoTokenizer=loader):
        return instance(base.BasePPOExp, cfg=released(pretrain=str(FOLDER))).tokenizer


tokenizer = as_loaded()
tokens = declared_tokens(tokenizer)
codec = codec_of(tokens)
codec.padding_side, codec.truncation_side = tokenizer.padding_side, tokenizer.truncation_side


def trainer_of(tokenizer, **settings):
    """CustomRewardTrainer, without its models."""
    return instance(
        experiment.CustomRewardTrainer,
        cfg=released(**settings),
        tokenizer=tokenizer,
        writer=Quiet(),
        global_step=0,
        policy_model=Quiet(),
        critic_model=None,
        ref_model=Quiet(),
        reward_model=None,
        vllm_engines=[],
    )


def acting(model):
    """Actor around this model."""
    made = models.Actor(model)
    made.packing_samples = PACKED  # set where Actor loads its model itself
    return made


def regression(kind):
    """A random critic or reward model, by the class that the trainer makes around a base model."""
    config = tiny_model(len(tokenizer)).config
    config.normalize_reward = RELEASED.normalize_reward
    whole = type(transformers.AutoModel.from_config(config))
    maker = models._get_critic_model if kind == "critic" else models._get_reward_model
    transformers.set_seed(0)
    made = maker(whole.__base__, whole, RELEASED.value_head_prefix, True)(config)
    prefix = made.base_model_prefix
    setattr(made, prefix, Packed(getattr(made, prefix)))
    return made.eval().requires_grad_(False)


def scored(role, model, batch, **options):
    """forward of this role (PolicyRayActorBase, ...) on a packed row, as the trainer's inference calls it."""
    with on_cpu():
        return instance(getattr(actors, role), model=model).forward(
            sequences=batch.ids, attention_mask=batch.mask, packed_seq_lens=batch.lengths, **options
        )
