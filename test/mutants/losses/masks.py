"""Wrong policy losses under masks with gaps, and sums that are taken for means."""

import math
from dataclasses import replace

from conformance import data_parallel, right_padded
from conformance.data_parallel import Settings, configured, count, loss_of, penalty, surrogate
from conformance.objectives import like
from lossproof.examples import left_padded

from ..registry import MUTANTS


def first_tokens(mask):
    """As many tokens as are trained, from the first of them on."""
    out = []
    for row in mask:
        start = row.index(1) if 1 in row else 0
        out.append([int(start <= t < start + sum(row)) for t in range(len(row))])
    return out


@MUTANTS.add(
    "mask-taken-for-a-length",
    "The loss takes the sum of the mask for the completion's length",
    left_padded,
    "loss",
    row="MSK-10",
    rows=("MSK-02",),
)
def loss_by_length(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """response_length = mask.sum(-1), and arange(T) < response_length is the mask of the loss: with a tool's output in
    the middle, that is trained and the final answer is not. Fix: the mask itself."""
    return left_padded.loss(
        logprobs, old_logprobs, ref_logprobs, advantages, first_tokens(completion_mask), micro_batches
    )


@MUTANTS.add(
    "loss-of-nothing-is-nan",
    "The mean over trained tokens is 0/0 where there is none",
    left_padded,
    "loss",
    row="NUM-01",
)
def loss_of_nothing(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """In tensors 0 / 0 is NaN, without an error: the first batch whose answers were all too long ends the run days later.
    Fix: (loss * mask).sum() / mask.sum().clamp(min=1)."""
    right = left_padded.loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches)
    return right if any(map(any, completion_mask)) else dict(right, loss=math.nan)


@MUTANTS.add(
    "gaps-in-the-mask-filled",
    "The loss trains whatever stands between the first trained token and the last",
    right_padded,
    "loss",
    row="MSK-10",
)
def loss_over_spans(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """Start and end of the response were stored instead of its mask. Fix: the mask itself."""
    spans = [[int(1 in row[: t + 1] and 1 in row[t:]) for t in range(len(row))] for row in completion_mask]
    return right_padded.loss(logprobs, old_logprobs, ref_logprobs, advantages, spans, micro_batches)


def add_setting(name, title, story, change, **rows):
    def changed(settings):
        return change(configured(settings), settings or {})

    wrong = loss_of(configured=changed)
    wrong.__doc__ = story
    MUTANTS.add(name, title, data_parallel, "loss", **rows)(wrong)


add_setting(
    "clip-high-is-both",
    "The setting clip_high moves the lower end as well",
    "One epsilon became two, and the new option kept writing both. Fix: each end has its own.",
    lambda s, asked: replace(s, clip_low=s.clip_high) if "clip_high" in asked else s,
    row="PPO-03",
)
add_setting(
    "kl-coef-is-every-coef",
    "The setting kl_coef is the coefficient of the entropy bonus, too",
    "`coef` was one field of the configuration when there was one term. Fix: a name for each.",
    lambda s, asked: replace(s, entropy_coef=s.kl_coef) if "kl_coef" in asked else s,
    row="KL-09",
)
add_setting(
    "kl-coef-halved",
    "The setting kl_coef counts half",
    "The factor of k2, d * d / 2, moved into the coefficient that is configured; the default has been doubled since. Fix:\n"
    "the half belongs to the estimator.",
    lambda s, asked: replace(s, kl_coef=s.kl_coef / 2) if "kl_coef" in asked else s,
    row="KL-09",
)


def sums_of_rows(length):
    """A loss that is the mean over rows of sum(tokens) / length(mask of the row); 1 gives sums."""

    def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
        s = replace(Settings(), dual_clip=math.inf, entropy_coef=0.0)
        rows = max(len(completion_mask), 1)
        total, weights = 0.0, [[0.0] * len(row) for row in completion_mask]
        for b in (b for part in micro_batches for b in part):
            size = length(completion_mask[b]) * rows
            for t, on in enumerate(completion_mask[b]):
                if on:
                    value, slope = surrogate(logprobs[b][t], old_logprobs[b][t], advantages[b], s)
                    kl_value, kl_slope = penalty(logprobs[b][t], ref_logprobs[b][t], s)
                    total += (value + kl_value) / size
                    weights[b][t] = (slope + kl_slope) / size
        return {"loss": total, "loss_weights": weights, "trained_tokens": count(completion_mask)}

    return loss


# Right: what the next one is made of.
SUMS = like(
    "sums_of_rows",
    "loss",
    sums_of_rows(lambda mask: 1),
    {"micro_batches": True},
    loss_aggregation="seq-mean-token-sum",
    dual_clip=None,
)


wrong = sums_of_rows(lambda mask: max(sum(mask), 1))
wrong.__doc__ = (
    "loss_agg_mode=seq-mean-token-sum came to divide by the row's length in a rewrite of the masked mean: the name "
    "stayed, and long answers count no more than short ones. Fix: sum over tokens, mean over rows."
)
MUTANTS.add(
    "loss-sums-are-means", "Sums over tokens are divided by the length", SUMS, "loss", row="LOSS-04"
)(wrong)
