"""The trainer's choices in the words of the protocol."""

from lossproof.adapters.grpo_dual._parts import trainer

SEMANTICS = {
    "stop_token_in_mask": True,
    "sft_target": "last-assistant",
    "advantage_baseline": "group-mean",
    "advantage_scaling": "group",
    "advantage_ddof": 1,
    "advantage_epsilon": 0,
    "kl_estimator": "k3",
    "kl_placement": "loss",
    "loss_aggregation": "seq-mean-token-mean",
    "ratio_level": "sequence",
    "clip_low": trainer.config.PPO_CLIP_EPS,
    "clip_high": trainer.config.PPO_CLIP_EPS,
}
