"""Wrong losses under other objectives than the clipped one, and wrong sums over ranks and batches."""

import math

from conformance import data_parallel
from conformance.data_parallel import clamped, count, loss_of
from conformance.objectives import CISPO, GSPO, gspo_of, held
from lossproof.examples import left_padded

from ..registry import MUTANTS


def add(base, op, name, title, story, wrong, row="", **more):
    wrong.__doc__ = story
    MUTANTS.add(name, title, base, op, row=row, **more)(wrong)


def without_logprob(logprob, old_logprob, advantage, s):
    """-clip(r) A: where the clip binds, nothing is left to differentiate."""
    weight = held(logprob, old_logprob, s)
    free = weight == math.exp(clamped(logprob, old_logprob, s))
    return -weight * advantage, -weight * advantage if free else 0.0


add(
    CISPO,
    "loss",
    "cispo-without-logprob",
    "CISPO's clipped ratio is not multiplied by the log-probability",
    "The stop-gradient was forgotten together with the factor behind it: clipped tokens train nothing.",
    loss_of(surrogate=without_logprob),
    "PPO-04",
)


def summed_log_ratio(logprobs, old_logprobs, mask):
    return min(sum(p - o for p, o, on in zip(logprobs, old_logprobs, mask) if on), 20.0)


def unmasked_log_ratio(logprobs, old_logprobs, mask):
    return sum(p - o for p, o in zip(logprobs, old_logprobs)) / len(mask)


add(
    GSPO,
    "loss",
    "sequence-ratio-is-a-sum",
    "The sequence ratio is the product of the tokens' ratios, not their geometric mean",
    "The mean over tokens was lost when the ratio moved to the level of the sequence: long rows are always clipped.",
    gspo_of(log_ratio=summed_log_ratio),
    "PPO-05",
)
add(
    GSPO,
    "loss",
    "sequence-ratio-over-padding",
    "The sequence ratio is a mean over all columns",
    "log_ratio.mean(-1) where the mask has gaps and padding.",
    gspo_of(log_ratio=unmasked_log_ratio),
    rows=("PPO-05",),
)


def sft_ranks(input_ids, labels, logits, micro_batches, ranks=None):
    """Every rank takes the mean over its own labels, and the means are averaged."""
    ranks = ranks or [list(range(len(labels)))]
    answers = []
    for rank in ranks:
        own = [[b for b in rows if b in rank] for rows in micro_batches]
        local = [row if b in rank else [-100] * len(row) for b, row in enumerate(labels)]
        answers.append(left_padded.sft_loss(input_ids, local, logits, own))
    share = 1 / len(ranks)
    return {
        "loss": share * sum(answer["loss"] for answer in answers),
        "loss_weights": [
            [share * sum(cells) for cells in zip(*rows)]
            for rows in zip(*(answer["loss_weights"] for answer in answers))
        ],
        "trained_tokens": sum(answer["trained_tokens"] for answer in answers),
    }


add(
    data_parallel,
    "sft_loss",
    "sft-ranks-average-their-means",
    "The SFT loss is the average of the ranks' means",
    "Gradients are averaged over ranks, each of which divided by its own labels.",
    sft_ranks,
    "LOSS-02",
)

SEEN = {"tokens": 1.0}


def running(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    answer = left_padded.loss(
        logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches
    )
    SEEN["tokens"] = 0.5 * SEEN["tokens"] + 0.5 * count(completion_mask)
    factor = count(completion_mask) / max(SEEN["tokens"], 1)
    return dict(
        answer,
        loss=factor * answer["loss"],
        loss_weights=[[factor * weight for weight in row] for row in answer["loss_weights"]],
    )


add(
    left_padded,
    "loss",
    "loss-running-denominator",
    "The loss divides by a running mean of the number of tokens",
    "Smoothed over steps so that the log looks calm: a step depends on the steps before it.",
    running,
)


def transposed(advantages, mask):
    """Which advantage a token gets where rows and columns are mixed up."""
    return len(advantages) == (len(mask[0]) if mask else 0)


def by_column(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """(B,) * (B, T) without unsqueeze: legal to numpy as soon as there are as many rows as columns."""
    if not transposed(advantages, completion_mask):
        return left_padded.loss(
            logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches
        )
    tokens = max(count(completion_mask), 1)
    total, weights = 0.0, [[0.0] * len(row) for row in completion_mask]
    for b, row in enumerate(completion_mask):
        for t, on in enumerate(row):
            if on:
                value, slope = left_padded.token_loss(
                    logprobs[b][t], old_logprobs[b][t], ref_logprobs[b][t], advantages[t]
                )
                total += value / tokens
                weights[b][t] = slope / tokens
    return {"loss": total, "loss_weights": weights, "trained_tokens": count(completion_mask)}


add(
    left_padded,
    "loss",
    "advantages-broadcast-over-columns",
    "Advantages of rows are multiplied onto columns where a batch has as many of both",
    "advantages * ratio without unsqueeze(-1): an error for most batches, silent for square ones.",
    by_column,
    "ADV-08",
)
