"""The left-padded trainer on several ranks: a loss with all its terms, and settings that come with the request.

Every rank computes its rows and divides by the tokens of all ranks, so that the sum over ranks is the loss of the
batch. The log-ratio is clamped before exp, bad answers are clipped from both sides, an entropy bonus is subtracted."""

import math
from dataclasses import dataclass, replace

import lossproof
from lossproof.examples import left_padded
from lossproof.examples.left_padded import count, k3
from lossproof.examples.lists import log_softmax
from lossproof.examples.losses.preference_loss import log_sigmoid, pairs, ratios
from lossproof.examples.models import checkpoints

EPSILON = 1e-6
# Of the weight of a token that an engine sampled from another policy.
CAP = 2.0
# Means are small: their beta is larger than that of sums.
NORM_BETA = 5.0
IGNORED = -100


@dataclass(frozen=True)
class Settings:
    kl_coef: float = 0.05
    clip_low: float = 0.2
    clip_high: float = 0.28
    dual_clip: float = 3.0
    entropy_coef: float = 0.01
    log_ratio_clamp: float = 20.0


def configured(settings, known=Settings):
    """The defaults with what was asked for; a setting that does not exist is an error."""
    try:
        return replace(known(), **(settings or {}))
    except TypeError as error:
        raise lossproof.Reject(str(error)) from None


def clamped(logprob, old_logprob, s):
    return min(max(logprob - old_logprob, -s.log_ratio_clamp), s.log_ratio_clamp)


def surrogate(logprob, old_logprob, advantage, s):
    """-min(r A, clip(r) A), at most -dual_clip A for a bad answer; and its derivative by logprob."""
    ratio = math.exp(clamped(logprob, old_logprob, s))
    held = min(max(ratio, 1 - s.clip_low), 1 + s.clip_high)
    if advantage < 0 and ratio > s.dual_clip:
        return -s.dual_clip * advantage, 0.0
    if ratio * advantage <= held * advantage:
        return -ratio * advantage, -ratio * advantage
    return -held * advantage, 0.0


def penalty(logprob, ref_logprob, s):
    """kl_coef * k3 and its derivative."""
    return s.kl_coef * k3(logprob, ref_logprob), s.kl_coef * (1 - math.exp(ref_logprob - logprob))


def bonus(entropy, s):
    """What the entropy adds to the loss."""
    return -s.entropy_coef * entropy


def global_tokens(mask, rank, ranks):
    """What a rank divides its sum by: the tokens of all ranks."""
    return count(mask)


def summed_over_ranks(parts):
    return sum(parts)


def mean_log_ratio(logprobs, old_logprobs, mask, ranks):
    """approx_kl: old - new over all trained tokens, raw."""
    values = [
        o - p for row in zip(logprobs, old_logprobs, mask) for p, o, on in zip(*row) if on
    ]
    return sum(values) / max(len(values), 1)


def mean_gap(old_logprobs, sampling_logprobs, mask, logprobs):
    """sampling_gap: |difference| between the trainer and the engine at the policy that sampled, over all trained tokens."""
    gaps = [
        abs(o - s) for row in zip(old_logprobs, sampling_logprobs, mask) for o, s, on in zip(*row) if on
    ]
    return sum(gaps) / max(len(gaps), 1)


def truncated(old_logprob, sampling_logprob, logprob):
    """The weight of a token that the engine sampled from another policy: truncated importance sampling."""
    return min(math.exp(old_logprob - sampling_logprob), CAP)


def loss_of(
    surrogate=surrogate,
    penalty=penalty,
    bonus=bonus,
    denominator=global_tokens,
    over_ranks=summed_over_ranks,
    approx_kl=mean_log_ratio,
    sampling_gap=mean_gap,
    correction=truncated,
    configured=configured,
    accumulated=True,
):
    """The loss made of its parts, so that a wrong one can stand in for any of them."""

    def loss(
        logprobs,
        old_logprobs,
        ref_logprobs,
        advantages,
        completion_mask,
        micro_batches,
        ranks=None,
        entropy=None,
        sampling_logprobs=None,
        settings=None,
    ):
        s = configured(settings)
        weights = [[0.0] * len(row) for row in completion_mask]
        ranks = ranks or [list(range(len(completion_mask)))]
        metrics = {"approx_kl": approx_kl(logprobs, old_logprobs, completion_mask, ranks)}
        if sampling_logprobs:
            metrics["sampling_gap"] = sampling_gap(old_logprobs, sampling_logprobs, completion_mask, logprobs)
        parts = []
        for rank in ranks:
            size = max(denominator(completion_mask, rank, ranks), 1)
            total = 0.0
            for rows in micro_batches:
                if not accumulated:
                    weights = [[0.0] * len(row) for row in completion_mask]
                for b in set(rows) & set(rank):
                    for t, on in enumerate(completion_mask[b]):
                        if not on:
                            continue
                        p, old, ref = logprobs[b][t], old_logprobs[b][t], ref_logprobs[b][t]
                        policy, slope = surrogate(p, old, advantages[b], s)
                        if sampling_logprobs:
                            weight = correction(old, sampling_logprobs[b][t], p)
                            policy, slope = weight * policy, weight * slope
                        kl, kl_slope = penalty(p, ref, s)
                        total += policy + kl + (bonus(entropy[b][t], s) if entropy else 0.0)
                        weights[b][t] = (slope + kl_slope) / size
            parts.append(total / size)
        return {
            "loss": over_ranks(parts),
            "loss_weights": weights,
            "trained_tokens": count(completion_mask),
            "metrics": metrics,
        }

    return loss


@dataclass(frozen=True)
class Scale:
    """Settings of the advantages: rewards are multiplied by it first."""

    reward_scale: float = 1.0


def by_group(rewards, group_ids, prompt_ids, ranks):
    """The rewards that a row is compared with: those of its group, on whichever rank they are."""
    return [[r for r, g in zip(rewards, group_ids) if g == own] for own in group_ids]


def advantage(reward, group):
    """Without a neighbour there is no spread, and the reward stands for itself."""
    if len(group) == 1:
        return reward
    mean = sum(group) / len(group)
    if max(group) == min(group):
        return 0.0
    return (reward - mean) / (math.sqrt(sum((r - mean) ** 2 for r in group) / (len(group) - 1)) + EPSILON)


def advantages_of(groups=by_group, advantage=advantage):
    def advantages(rewards, group_ids, prompt_ids=None, ranks=None, settings=None):
        scale = configured(settings, Scale).reward_scale
        scaled = [scale * reward for reward in rewards]
        compared = groups(scaled, group_ids, prompt_ids or [], ranks or [])
        return {"advantages": [advantage(r, group) for r, group in zip(scaled, compared)]}

    return advantages


def by_probability(logprobs):
    """DFT: (-p log p, its slope by log p) of each label; the weight p has no gradient."""
    return [(-math.exp(value) * value, -math.exp(value)) for value in logprobs]


def sft_loss_of(terms=by_probability):
    """A mean over the labels of all ranks. `terms` of the log-probabilities of a row's labels: value and slope of each."""

    def sft_loss(input_ids, labels, logits, micro_batches, ranks=None):
        places = [[t for t, label in enumerate(row) if t > 0 and label != IGNORED] for row in labels]
        tokens = sum(map(len, places))
        total, weights = 0.0, [[0.0] * len(row) for row in labels]
        for rank in ranks or [list(range(len(labels)))]:
            for b in [b for rows in micro_batches for b in rows if b in rank]:
                scored = terms([log_softmax(logits[b][t - 1], labels[b][t]) for t in places[b]])
                for t, (value, slope) in zip(places[b], scored):
                    total += value / tokens
                    weights[b][t] = slope / tokens
        return {"loss": total, "loss_weights": weights, "trained_tokens": tokens}

    return sft_loss


def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages=None):
    """The left-padded trainer's step of a policy, and of DFT."""
    if advantages is not None:
        return checkpoints.train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path, advantages)
    scored = [checkpoints.logprobs_of(model_path, *row) for row in zip(prompt_ids, completion_ids)]
    tokens = sum(map(len, completion_ids))
    terms = [by_probability(row) for row in scored]
    weights = [[slope / tokens for _, slope in row] for row in terms]
    checkpoints.stepped(model_path, prompt_ids, completion_ids, weights, learning_rate, saved_path)
    return {"loss": sum(value for row in terms for value, _ in row) / tokens, "loss_weights": weights}


def preference_loss_of(scored=lambda ratio, tokens, other: ratio / tokens):
    """LN-DPO: DPO over means. `scored` of a completion's log-ratio, its tokens and those of the other one."""

    def preference_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs):
        lengths = [(len(c), len(r)) for c, r in zip(chosen_logprobs, rejected_logprobs)]
        chosen = [scored(v, c, r) for v, (c, r) in zip(ratios(chosen_logprobs, ref_chosen_logprobs), lengths)]
        rejected = [scored(v, r, c) for v, (c, r) in zip(ratios(rejected_logprobs, ref_rejected_logprobs), lengths)]
        losses = [-log_sigmoid(NORM_BETA * (c - r)) for c, r in zip(chosen, rejected)]
        return pairs(losses, [NORM_BETA * c for c in chosen], [NORM_BETA * r for r in rejected])

    return preference_loss


def kl(logprobs, ref_logprobs, completion_mask, settings=None):
    """k3 with its coefficient: what is subtracted from the reward."""
    s = configured(settings, Penalty)
    answer = left_padded.kl(logprobs, ref_logprobs, completion_mask)
    rows = [[s.kl_scale * value for value in row] for row in answer["kl"]]
    return {"kl": rows, "mean_kl": s.kl_scale * answer["mean_kl"]}


@dataclass(frozen=True)
class Penalty:
    kl_scale: float = 1.0


OPS = dict(
    left_padded.OPS,
    sft_loss=(sft_loss_of(), {"micro_batches": True, "ranks": True}),
    preference_loss=preference_loss_of(),
    train_step=(train_step, {"route": ["sft", "rl"]}),
    preference_step=checkpoints.preference_step(preference_loss_of()),
    kl=(kl, {"knobs": {"kl_scale": [1.0, 2.0]}}),
    loss=(
        loss_of(),
        {
            "micro_batches": True,
            "ranks": True,
            "entropy": True,
            "sampling_logprobs": True,
            "knobs": {"kl_coef": [0.05, 0.5], "clip_high": [0.28, 1.0], "entropy_coef": [0.01, 0.1]},
        },
    ),
    advantages=(
        advantages_of(),
        {
            "ranks": True,
            "groups_of_one": True,
            "interleaved_groups": True,
            "knobs": {"reward_scale": [1.0, 0.0]},
        },
    ),
)

DECLARED = dict(
    left_padded.DECLARED,
    tensors="base64",
    semantics=dict(
        left_padded.DECLARED["semantics"],
        advantage_epsilon=EPSILON,
        clip_high=Settings.clip_high,
        dual_clip=Settings.dual_clip,
        log_ratio_clamp=Settings.log_ratio_clamp,
        entropy_coef=Settings.entropy_coef,
        sft_objective="dft",
        preference_objective="dpo_norm",
        preference_beta=NORM_BETA,
        preference_label_smoothing=0.0,
        sampling_correction="truncated",
        sampling_correction_level="token",
        sampling_correction_low=None,
        sampling_correction_high=CAP,
    ),
)

if __name__ == "__main__":
    lossproof.serve(name="data-parallel", ops=OPS, **DECLARED)
