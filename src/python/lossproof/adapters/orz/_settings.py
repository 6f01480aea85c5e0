"""The released settings of its 7B experiment, in the words of the protocol, and which form of rows is asked about."""

from lossproof.adapters.common._settings import chosen
from lossproof.adapters.orz._parts import experiment, orz

RELEASED = experiment.PPOExpConfig
BETA = 0.1  # of the KL in the loss, which is released as 0; any other value shows it

# What is trained, and what scores it, is packed one row behind the other. The functions for padded rows are there, and are called by
# nothing.
PACKED = chosen("LOSSPROOF_ROWS", ("packed", "padded")) == "packed"
SCORED = ["score", "model_score", "values", "reward_model"]
TRAINED = ["pack", "rollout", "entropy", "loss", "value_loss", "train_step"]
if not PACKED:
    for op in [*SCORED, *TRAINED]:
        orz.lacks[op] = "Open-Reasoner-Zero scores and trains packed rows alone; LOSSPROOF_ROWS=packed asks about those"

SEMANTICS = {
    "clip_low": RELEASED.eps_clip,
    "clip_high": RELEASED.eps_clip,
    "value_clip": RELEASED.value_clip,
    "kl_placement": "loss" if RELEASED.use_kl_loss else "reward",
    "kl_estimator": "k3" if RELEASED.use_kl_estimator_k3 else "k1",
    "kl_coef": BETA,
    # ppo_train takes the mean of each packed micro-batch over its own tokens.
    "loss_normalization": "local",
    # What custom_reward_fn says it does; what is measured is known.
    "advantage_baseline": "group-mean",
    "advantage_scaling": "group",
    "cut_at": sorted({RELEASED.prompt_max_len, RELEASED.generate_max_len}),
}
