"""What one correct trainer may decide otherwise than another, as a record. Nothing here computes.

The fields below `semantics` have the names and values of the protocol's semantics; the others are its layout, its
special ids and its number format. A field without effect (the epsilon of advantages that are not scaled) is not
declared."""

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Settings:
    title: str
    # Tokens: a family of `text`, and which id pads: one of its "own", the "stop" token, or "free": as requests say.
    family: str = "llama3"
    pad: str = "own"
    # Numbers: what the model computes in; advantages and losses are then float32 at least.
    dtype: str = "float64"
    tensors: str = "json"
    # Layout. rows: "block" as generation left it, or laid out anew, flush "left" or "right" against the padding.
    alignment: str = "token"
    span: str = "row"
    rows: str = "left"
    multiple: int = 1
    collate: str = "right"
    # Completions are cut out of "sequences", or taken as the sampler "sampled" them.
    extraction: str = "sequences"
    # Whether loss_weights are answered; without them the harness takes differences of the loss.
    weights: bool = True
    # Estimators that a request may name.
    kl_named: tuple = ()
    # Where a clamp binds: on the "log-ratio" or on the "estimate".
    kl_clamp_on: str = "log-ratio"
    # What scaling by the batch takes the deviation of: "rewards", or rewards "centred" by their baseline.
    batch_of: str = "rewards"
    # The constant divides a sum over the "batch", or that of each "row", averaged over rows.
    norm_per: str = "batch"
    # Rows without a trained token: "count" as rows in a mean over rows, or "skip".
    empty_rows: str = "count"
    # How labels that may be wrong are smoothed: "conservative" or "robust".
    preference_smoothing: str = "conservative"
    # Whether models are trained on pairs: in plain Python that takes seconds, so one of each objective does.
    trains_pairs: bool = False
    # A mean that whitening does not subtract is "scaled" like everything else, or "kept".
    whiten_rest: str = "scaled"
    # --- semantics ---
    stop_token_in_mask: bool = True
    stop_token_in_completion: bool = True
    truncated_completions_trained: bool = True
    resumed_prefix_trained: bool = True
    sft_target: str = "assistant"
    sft_objective: str = "nll"
    sft_aggregation: str = "token-mean"
    # None: the temperature is no argument of its scoring.
    temperature_in_scoring: object = True
    kl_estimator: str = "k3"
    kl_clamp: object = None
    kl_ratio_correction: bool = False
    kl_placement: str = "loss"
    kl_coef: float = 0.04
    advantage_baseline: str = "group-mean"
    advantage_scaling: str = "group"
    advantage_ddof: int = 1
    advantage_epsilon: float = 1e-4
    advantage_epsilon_placement: str = "std"
    filter_equal_rewards: str = "drop"
    filter_truncated: str = "keep"
    filter_long: str = "keep"
    filter_rewards: str = "none"
    loss_aggregation: str = "token-mean"
    loss_norm: float = 64.0
    loss_normalization: str = "global"
    # None: not clipped on that side, which no number can declare.
    clip_low: object = 0.2
    clip_high: object = 0.2
    dual_clip: object = None
    ratio_level: str = "token"
    policy_objective: str = "clip"
    log_ratio_clamp: object = None
    # None: its loss takes no entropies.
    entropy_coef: object = None
    truncation_side: str = "right"
    overlong: str = "truncate"
    preference_objective: str = "dpo"
    preference_beta: float = 0.1
    preference_label_smoothing: float = 0.0
    preference_gamma: float = 0.5
    reward_centering: float = 0.0
    unpaired_objective: str = "kto"
    unpaired_beta: float = 0.1
    desirable_weight: float = 1.0
    undesirable_weight: float = 1.0
    whiten_mean: bool = True
    whiten_ddof: int = 1
    sampling_logprobs: str = "temperature"
    value_clip: object = 0.2
    value_loss_factor: float = 0.5
    value_aggregation: str = "token-mean"
    balance_coef: float = 0.02
    balance_counts: str = "token"
    balance_scores: str = "softmax"
    balance_layers: str = "together"
    balance_scope: str = "batch"


_FIRST = "stop_token_in_mask"
_NAMES = [field.name for field in fields(Settings)]
_SEMANTICS = _NAMES[_NAMES.index(_FIRST) :]
# Items of which None is a value that can be declared.
_MAY_BE_NONE = ("kl_clamp", "dual_clip", "log_ratio_clamp", "value_clip")


def semantics(settings):
    """The declaration of everything that has an effect."""
    idle = set()
    if settings.advantage_scaling == "none":
        idle |= {"advantage_ddof", "advantage_epsilon", "advantage_epsilon_placement"}
    if settings.advantage_epsilon == 0:
        idle.add("advantage_epsilon_placement")
    if settings.loss_aggregation != "token-sum-norm":
        idle.add("loss_norm")
    if settings.policy_objective == "cispo":
        idle |= {"dual_clip", "log_ratio_clamp"}
    if settings.overlong == "drop":
        idle.add("truncation_side")
    if settings.preference_objective in ("ipo", "hinge"):
        idle.add("preference_label_smoothing")
    if settings.preference_objective != "simpo":
        idle.add("preference_gamma")
    values = {name: getattr(settings, name) for name in _SEMANTICS if name not in idle}
    return {name: value for name, value in values.items() if value is not None or name in _MAY_BE_NONE}
