"""verl's names in the words of the protocol, and which of them are chosen."""

from lossproof.adapters.common._settings import chosen, declared

BETA = 0.04  # any value but 0, which would hide the KL
ENTROPY_COEF = 0.01
VALUE_CLIP = 0.5  # verl's default, as is the half of an error
HALF = 0.5
EPSILON = 1e-6
NORM = 64  # loss_scale_factor of seq-mean-token-sum-norm

# What is subtracted from a reward, and what divides it.
ESTIMATORS = {
    "grpo": {"advantage_baseline": "group-mean", "advantage_scaling": "group", "advantage_ddof": 1, "advantage_epsilon": EPSILON},
    "grpo_passk": {"advantage_baseline": "leave-one-out-max", "advantage_scaling": "group", "advantage_ddof": 1, "advantage_epsilon": EPSILON},
    "grpo_vectorized": {"advantage_baseline": "group-mean", "advantage_scaling": "group", "advantage_ddof": 1},
    "rloo": {"advantage_baseline": "leave-one-out", "advantage_scaling": "none"},
    "rloo_vectorized": {"advantage_baseline": "leave-one-out", "advantage_scaling": "none"},
    "opo": {"advantage_baseline": "length-weighted", "advantage_scaling": "none"},
    # Whitened over tokens, scaled by the share of rows with a signal: formulas of their own.
    "reinforce_plus_plus_baseline": {"own_formulas": ["advantages"], "advantage_baseline": "group-mean"},
    "reinforce_plus_plus": {"own_formulas": ["advantages"], "advantage_baseline": "batch-mean"},
    "gpg": {"own_formulas": ["advantages"], "advantage_baseline": "group-mean"},
}
AGGREGATIONS = {
    "token-mean": {"loss_aggregation": "token-mean", "value_aggregation": "token-mean"},
    "seq-mean-token-mean": {"loss_aggregation": "seq-mean-token-mean", "value_aggregation": "seq-mean-token-mean"},
    "seq-mean-token-sum": {"loss_aggregation": "seq-mean-token-sum", "value_aggregation": "seq-mean-token-sum"},
    "seq-mean-token-sum-norm": {
        "loss_aggregation": "token-sum-norm",
        "loss_norm": NORM,
        "value_aggregation": "seq-mean-token-sum",
        "value_loss_factor": HALF / NORM,
    },
}
POLICIES = {
    "vanilla": {"ratio_level": "token", "policy_objective": "clip", "dual_clip": 3.0, "log_ratio_clamp": 20.0},
    "gspo": {"ratio_level": "sequence", "policy_objective": "clip", "dual_clip": None},
    "cispo": {"ratio_level": "token", "policy_objective": "cispo", "log_ratio_clamp": 20.0},
    # A mean over rows whatever loss_agg_mode says, which is left to the KL and the entropy.
    "geo_mean": {"own_formulas": ["loss"], "loss_aggregation": "seq-mean-token-mean"},
}

ESTIMATOR = chosen("LOSSPROOF_ADVANTAGE", ESTIMATORS)
AGGREGATION = chosen("LOSSPROOF_LOSS", AGGREGATIONS)
POLICY = chosen("LOSSPROOF_POLICY", POLICIES)

SEMANTICS = declared(
    {
        "stop_token_in_mask": True,
        "sft_target": "assistant",
        "sft_aggregation": "token-mean",
        "kl_estimator": "k3",
        "kl_clamp": {"k3": 10.0},
        "kl_placement": "loss",
        "kl_coef": BETA,
        "clip_low": 0.2,
        "clip_high": 0.2,
        "entropy_coef": ENTROPY_COEF,
        "loss_normalization": "global",
        "value_clip": VALUE_CLIP,
        "value_loss_factor": HALF,
        "filter_equal_rewards": "drop",
        "filter_truncated": "keep",
        "filter_long": "keep",
        "filter_rewards": "none",
        "whiten_mean": True,
        "whiten_ddof": 1,
        "temperature_in_scoring": True,
    },
    [ESTIMATORS[ESTIMATOR], AGGREGATIONS[AGGREGATION], POLICIES[POLICY]],
)
