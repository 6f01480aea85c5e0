"""The settings of its PPO, in the words of the protocol: those of its configuration file, and what train_ppo.sh says over them."""

import yaml
from lossproof.adapters.common._tiny import stop
from lossproof.adapters.search_r1._parts import RELEASED, search


def released():
    path = search.root / RELEASED
    if not path.is_file():
        stop("%s %s has no %s" % (search.title, search.version, RELEASED))
    return yaml.safe_load(path.read_text(encoding="utf-8"))


CONFIG = released()
ACTOR = CONFIG["actor_rollout_ref"]["actor"]
CLIP, ENTROPY_COEF = ACTOR["clip_ratio"], ACTOR["entropy_coeff"]
VALUE_CLIP = CONFIG["critic"]["cliprange_value"]
ESTIMATORS = {"k1": "kl", "k2": "mse", "k3": "low_var_kl", "abs": "abs"}
OWN_ESTIMATOR = next(name for name, own in ESTIMATORS.items() if own == CONFIG["algorithm"]["kl_penalty"])

SEMANTICS = {
    "stop_token_in_mask": True,
    "tool_truncation_side": "right",
    "free_text_calls": True,
    "clip_low": CLIP,
    "clip_high": CLIP,
    "entropy_coef": ENTROPY_COEF,
    "loss_aggregation": "token-mean",
    "loss_normalization": "local",
    "ratio_level": "token",
    "policy_objective": "clip",
    "kl_estimator": OWN_ESTIMATOR,
    "kl_placement": "reward",
    "value_clip": VALUE_CLIP,
    "value_loss_factor": 0.5,
    "value_aggregation": "token-mean",
    "gae_bootstrap": False,  # where a row is as long as its batch, compute_gae_advantage_return has 0 behind it
    "whiten_mean": True,
    "whiten_ddof": 1,
    "temperature_in_scoring": True,
    # Of its GRPO.
    "advantage_baseline": "group-mean",
    "advantage_scaling": "group",
    "advantage_ddof": 1,
    "advantage_epsilon": 1e-6,
}
