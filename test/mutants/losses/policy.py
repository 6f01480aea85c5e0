"""Wrong policy losses: denominators, masks, clipping, signs."""

import math

from lossproof.examples import left_padded
from lossproof.examples.left_padded import CLIP_HIGH, CLIP_LOW, KL_COEF, count, k3, token_loss

from ..registry import MUTANTS


def summed(token, selected, denominator):
    """A loss op: the sum of `token(logprob, old, ref, advantage)` over `selected(on)`, each divided by
    `denominator(mask, rows, micro_batches)` of its micro-batch."""

    def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
        total = 0.0
        weights = [[0.0] * len(row) for row in completion_mask]
        for rows in micro_batches:
            size = max(denominator(completion_mask, rows, micro_batches), 1)
            for b in rows:
                for t, on in enumerate(completion_mask[b]):
                    if selected(on):
                        value, slope = token(
                            logprobs[b][t], old_logprobs[b][t], ref_logprobs[b][t], advantages[b]
                        )
                        total += value / size
                        weights[b][t] = slope / size
        return {"loss": total, "loss_weights": weights, "trained_tokens": count(completion_mask)}

    return loss


def trained(on):
    return on == 1


def all_tokens(mask, rows, micro_batches):
    return count(mask)


def add(name, title, story, token=token_loss, selected=trained, denominator=all_tokens, **rows):
    wrong = summed(token, selected, denominator)
    wrong.__doc__ = story
    MUTANTS.add(name, title, left_padded, "loss", **rows)(wrong)


add(
    "loss-mean-of-means",
    "The loss is the mean of the micro-batches' means",
    "Each micro-batch divides by its own tokens: short answers weigh more, and the step depends on the split.",
    denominator=lambda mask, rows, micro: count([mask[b] for b in rows]) * len(micro),
    row="LOSS-01",
)
add(
    "loss-sums-micro-batches",
    "Micro-batch means are added up and never divided",
    "Gradient accumulation without the division: the step grows with the number of micro-batches.",
    denominator=lambda mask, rows, micro: count([mask[b] for b in rows]),
    row="LOSS-08",
)
add(
    "loss-denominator-counts-padding",
    "The loss divides by all columns instead of by the trained tokens",
    "(loss * mask).mean(): the more padding in the batch, the smaller the step.",
    denominator=lambda mask, rows, micro: sum(map(len, mask)),
    row="LOSS-11",
)
add(
    "loss-ignores-the-mask",
    "The loss reads every column",
    "The mask was built and never used.",
    selected=lambda on: True,
    denominator=lambda mask, rows, micro: sum(map(len, mask)),
    row="MSK-02",
    rows=("KL-08", "LOSS-11"),
)


def kl_reversed(logprob, old_logprob, ref_logprob, advantage):
    value, slope = token_loss(logprob, old_logprob, ref_logprob, advantage)
    penalty = KL_COEF * k3(logprob, ref_logprob)
    return value - 2 * penalty, slope - 2 * KL_COEF * (1 - math.exp(ref_logprob - logprob))


add(
    "loss-kl-sign",
    "The KL term is subtracted from the loss",
    "pg_loss - beta * kl: the policy is pushed away from the reference.",
    token=kl_reversed,
    row="KL-01",
)


def no_kl(logprob, old_logprob, ref_logprob, advantage):
    return token_loss(logprob, old_logprob, logprob, advantage)


add(
    "loss-without-kl",
    "The KL coefficient has no effect",
    "The KL was logged and never added.",
    token=no_kl,
    row="KL-09",
    rows=("KL-10",),
)


def penalised(policy):
    """A token loss of policy(ratio, advantage) -> (value, slope) plus the right KL term."""

    def token(logprob, old_logprob, ref_logprob, advantage):
        value, slope = policy(math.exp(logprob - old_logprob), advantage)
        d = ref_logprob - logprob
        return value + KL_COEF * k3(logprob, ref_logprob), slope + KL_COEF * (1 - math.exp(d))

    return token


def clip(ratio):
    return min(max(ratio, 1 - CLIP_LOW), 1 + CLIP_HIGH)


def not_clipped(ratio, advantage):
    return -ratio * advantage, -ratio * advantage


def maximum(ratio, advantage):
    if ratio * advantage >= clip(ratio) * advantage:
        return -ratio * advantage, -ratio * advantage
    return -clip(ratio) * advantage, 0.0


def positive_only(ratio, advantage):
    if ratio <= 1 + CLIP_HIGH:
        return -ratio * advantage, -ratio * advantage
    return -(1 + CLIP_HIGH) * advantage, 0.0


def detached(ratio, advantage):
    return -ratio * advantage, 0.0


add(
    "loss-not-clipped",
    "The ratio is not clipped",
    "The clip range is read from the configuration and unused.",
    penalised(not_clipped),
)
add(
    "loss-max-for-min",
    "max() stands where min() belongs",
    "A minus moved inside the minimum and the minimum stayed.",
    penalised(maximum),
    row="PPO-03",
)
add(
    "loss-clip-ignores-the-sign",
    "Negative advantages are clipped like positive ones",
    "min(ratio, 1 + eps) * A: an answer that got worse is no longer corrected once its ratio is large.",
    penalised(positive_only),
    row="PPO-03",
)
add(
    "loss-detached-ratio",
    "No gradient flows through the ratio",
    "exp((logprob - old).detach()): the loss has the right value, and only the KL term trains.",
    penalised(detached),
)


@MUTANTS.add(
    "loss-without-gradient", "The loss has the right value and no gradient at all", left_padded, "loss"
)
def no_gradient(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """Computed under no_grad, so every weight is zero."""
    right = left_padded.loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches)
    return dict(right, loss_weights=[[0.0] * len(row) for row in completion_mask])


@MUTANTS.add(
    "loss-nan-under-the-mask", "NaN under a 0 of the mask reaches the loss", left_padded, row="NUM-02"
)
def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """value * mask: zero times NaN is NaN. Select with where() instead."""
    right = left_padded.loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches)
    for row in (*logprobs, *old_logprobs, *ref_logprobs):
        for value in row:
            if not math.isfinite(value):
                right["loss"] = float("nan")
    return right


def minus_lost(ratio, advantage):
    if ratio * advantage <= clip(ratio) * advantage:
        return ratio * advantage, ratio * advantage
    return clip(ratio) * advantage, 0.0


add(
    "loss-minus-lost",
    "The objective is minimised",
    "min(r A, clip(r) A) came from the paper, where it is maximised, and went into an optimiser that minimises. "
    "Fix: negate it.",
    penalised(minus_lost),
)
add(
    "loss-denominator-of-the-first-row",
    "Every token is divided by the length of the first completion",
    "completion_mask[0].sum() * B stood for the number of tokens when all completions ran to the limit. "
    "Fix: completion_mask.sum().",
    denominator=lambda mask, rows, micro: sum(mask[0]) * len(mask),
    row="LOSS-03",
)


@MUTANTS.add(
    "loss-counts-columns",
    "The number of columns is logged as trained tokens",
    left_padded,
    "loss",
    row="MSK-10",
)
def counts_columns(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """mask.numel() for mask.sum(): the log shows a healthy number in the very run whose masks are empty."""
    right = left_padded.loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches)
    return dict(right, trained_tokens=sum(map(len, completion_mask)))
