"""Wrong losses of a critic: clips on the wrong side, values of other columns and other times, denominators."""

import math

from lossproof.examples import left_padded
from lossproof.examples.losses.value_loss import CLIP, FACTOR, added, clipped

from ..in_place import masked, written
from ..registry import MUTANTS


def summed(error=clipped, denominator=lambda mask: sum(map(sum, mask)), of=lambda *tracks: tracks):
    """A value_loss op: `error(value, old, target)` of trained tokens, over `denominator(mask)`; `of` is what is made of
    values, old values, returns and mask before that."""

    def value_loss(values, old_values, returns, completion_mask, micro_batches):
        values, old_values, returns, mask = of(values, old_values, returns, completion_mask)
        return added(
            [b for part in micro_batches for b in part],
            mask,
            lambda b: FACTOR / max(denominator(mask), 1),
            lambda b, t: error(values[b][t], old_values[b][t], returns[b][t]),
        )

    return value_loss


def add(name, title, story, wrong, row="", **rows):
    wrong.__doc__ = story
    MUTANTS.add(name, title, left_padded, "value_loss", row=row, **rows)(wrong)


def nan_of_nothing(values, old_values, returns, completion_mask, micro_batches):
    right = summed()(values, old_values, returns, completion_mask, micro_batches)
    return right if any(map(any, completion_mask)) else dict(right, loss=math.nan)


add(
    "value-loss-of-nothing-is-nan",
    "The mean over trained tokens is 0/0 where there is none",
    "In tensors 0 / 0 is NaN, without an error. Fix: the mask's sum clamped to 1.",
    nan_of_nothing,
    "NUM-01",
)


def bounded(value, centre):
    return centre + min(max(value - centre, -CLIP), CLIP)


def errors(value, held, target):
    return ((value - target) ** 2, 2 * (value - target)), ((held - target) ** 2, 0.0)


def smaller(value, old, target):
    held = bounded(value, old)
    free, bound = errors(value, held, target)
    return free if held == value else min(free, bound)


add(
    "value-clip-keeps-the-smaller",
    "Of the two errors the smaller counts",
    "min was copied from the policy's objective, where the sign is the other way round. Fix: torch.max of the two errors.",
    summed(smaller),
    "VAL-09",
)


def around_the_return(value, old, target):
    free, bound = errors(value, bounded(value, target), target)
    return max(free, bound)


add(
    "value-clip-around-returns",
    "Values are clipped around their returns",
    "returns + clip(values - returns): never the larger error, so that nothing is clipped. Fix: old_values + clip(values - "
    "old_values).",
    summed(around_the_return),
    "VAL-09",
)


def above_only(value, old, target):
    free, bound = errors(value, min(value, old + CLIP), target)
    return bound if bound[0] > free[0] else free


add(
    "value-clip-above-only",
    "Values are held when they rise, and not when they fall",
    "torch.min(values, old_values + cliprange_value): the other side was forgotten. Fix: clamp on both sides.",
    summed(above_only),
    "VAL-09",
)


def detached_clip(value, old, target):
    """clamp(...).detach() + ..., so that what is held has a gradient all the same."""
    return clipped(value, old, target)[0], 2 * (value - target)


add(
    "value-clip-without-effect-on-the-gradient",
    "The logged loss is clipped, the gradient is not",
    "The clipped loss is a metric, and backward is called on the other one. Fix: descend what is logged.",
    summed(detached_clip),
    "VAL-09",
)


def still(value, old, target):
    return clipped(old, old, target)[0], 0.0


add(
    "value-of-sampling-is-trained",
    "The values at sampling stand where those of now should",
    "batch['values'] is what the rollout stored, without gradient; the critic's new output is called vpreds. Fix: pass "
    "vpreds.",
    summed(still),
    "VAL-10",
)
add(
    "value-old-is-computed-anew",
    "Old values are the values of now, so the clip never binds",
    "old_values are computed in the training step again, from the same weights. Fix: store them with the rollout.",
    summed(of=lambda values, old, returns, mask: (values, values, returns, mask)),
    "VAL-10",
)
add(
    "value-returns-of-the-next-token",
    "Each value is drawn to the return of the next token",
    "values[:, :-1] against returns[:, 1:], for values that were already shifted. Fix: shift once.",
    summed(of=lambda values, old, returns, mask: (values, old, [row[1:] + [0.0] for row in returns], mask)),
    "VAL-11",
)
add(
    "value-mask-of-the-token-before",
    "The critic's mask begins one token before the completion",
    "attention_mask[:, -C - 1 : -1] for values that are already those of the completion: the last token is never learnt, and "
    "the first of the padding is. Fix: attention_mask[:, -C:].",
    summed(of=lambda values, old, returns, mask: (values, old, returns, [[0] + row[:-1] for row in mask])),
    "VAL-11",
)
add(
    "value-loss-without-a-mask",
    "Every column is trained",
    "F.mse_loss(values, returns): padding has return 0, and the critic learns it. Fix: mask before the mean.",
    summed(of=lambda values, old, returns, mask: (values, old, returns, [[1] * len(row) for row in mask])),
    "MSK-06",
)
add(
    "value-denominator-counts-padding",
    "The sum over trained tokens is divided by all columns",
    "(loss * mask).mean(): the longer the longest answer, the smaller the step. Fix: divide by mask.sum().",
    summed(denominator=lambda mask: sum(map(len, mask))),
    "LOSS-11",
)
add(
    "value-loss-without-the-half",
    "The factor of 0.5 is lost",
    "0.5 is in the docstring and not in the code. Fix: multiply by it once.",
    summed(error=lambda *token: tuple(2 * x for x in clipped(*token))),
    "LOSS-08",
)
add(
    "value-loss-of-rows",
    "The loss is the mean over rows of their means, where one over tokens is declared",
    "masked_mean(..., dim=-1).mean() was left when token-mean was introduced elsewhere. Fix: one mean over all tokens.",
    lambda values, old_values, returns, completion_mask, micro_batches: added(
        [b for part in micro_batches for b in part],
        completion_mask,
        lambda b: FACTOR / (len(completion_mask) * sum(completion_mask[b])),
        lambda b, t: clipped(values[b][t], old_values[b][t], returns[b][t]),
    ),
    "LOSS-04",
)


def mean_of_parts(parts_of):
    """The mean of the means of parts_of(micro_batches, ranks)."""

    def value_loss(values, old_values, returns, completion_mask, micro_batches, ranks=None):
        parts = parts_of(micro_batches, ranks)
        part_of = {b: rows for rows in parts for b in rows}
        return added(
            list(part_of),
            completion_mask,
            lambda b: FACTOR / sum(sum(completion_mask[other]) for other in part_of[b]) / len(parts),
            lambda b, t: clipped(values[b][t], old_values[b][t], returns[b][t]),
        )

    return value_loss


add(
    "value-mean-of-micro-batch-means",
    "The means of the micro-batches are averaged",
    "loss / gradient_accumulation_steps: tokens of short micro-batches weigh more. Fix: one count for the whole batch.",
    mean_of_parts(lambda micro_batches, ranks: micro_batches),
    "LOSS-01",
)
add(
    "value-mean-of-rank-means",
    "Each rank divides by its own tokens",
    "The policy's loss was mended with an all-reduce of its count, and the critic's was forgotten. Fix: the same there.",
    mean_of_parts(lambda micro_batches, ranks: ranks or [[b for part in micro_batches for b in part]]),
    "LOSS-02",
)


def multiplied(values, old_values, returns, completion_mask, micro_batches):
    tokens = sum(map(sum, completion_mask))
    total, weights = 0.0, [[0.0] * len(mask) for mask in completion_mask]
    for b, mask in enumerate(completion_mask):
        for t, on in enumerate(mask):
            value, slope = clipped(values[b][t], old_values[b][t], returns[b][t])
            total += on * value * FACTOR / tokens
            weights[b][t] = on * slope * FACTOR / tokens
    return {"loss": total, "loss_weights": weights, "trained_tokens": tokens}


add(
    "value-loss-times-the-mask",
    "Errors are multiplied by the mask, so that a NaN under a 0 stays a NaN",
    "loss * mask: what the critic says of padding is not always a number. Fix: torch.where before the square.",
    multiplied,
    "NUM-02",
)


def empty_rows(values, old_values, returns, completion_mask, micro_batches):
    right = summed()(values, old_values, returns, completion_mask, micro_batches)
    return right if all(map(any, completion_mask)) else dict(right, loss=float("nan"))


add(
    "value-nan-of-an-empty-row",
    "A row without trained tokens makes the loss NaN",
    "The mean of each row, weighed by its tokens: 0/0 times 0. Fix: add up first, divide once.",
    empty_rows,
    "NUM-01",
)


def paired_with_others(values, old_values, returns, completion_mask, micro_batches):
    """Only with several rows do returns stand beside the values of others."""
    order = sorted(range(len(values)), key=lambda b: (-sum(completion_mask[b]), b))
    return summed()(values, old_values, [returns[b] for b in order], completion_mask, micro_batches)


add(
    "value-returns-sorted-by-length",
    "Returns are sorted by length, and values are not",
    "The dynamic batch sorts what it packs, and returns were packed apart. Fix: sort, or put back, all of them alike.",
    paired_with_others,
    "PAD-08",
)
add(
    "value-counts-all-columns",
    "trained_tokens counts every column",
    "values.numel() is logged as the number of tokens. Fix: mask.sum().",
    lambda values, old_values, returns, completion_mask, micro_batches: dict(
        summed()(values, old_values, returns, completion_mask, micro_batches),
        trained_tokens=sum(map(len, completion_mask)),
    ),
    "MSK-10",
)
written(
    "value_loss",
    "value-old-values-written-in-place",
    "Old values are masked in place",
    "old_values *= mask: the second epoch clips around zeros. Fix: a copy.",
    masked("old_values"),
    row="VAL-10",
)
