"""Wrong losses under other objectives than the clipped one, and wrong sums over ranks and batches."""

import math

from .. import data_parallel, left_padded
from ..data_parallel import clamped, configured, count, loss_of
from ..objectives import CISPO, GSPO, gspo_of, held
from . import MUTANTS


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


def sorted_mask(logprobs, ref_logprobs, completion_mask):
    """Rows are sorted by length for the pass, and the mask is not put back."""
    order = sorted(range(len(completion_mask)), key=lambda b: sum(completion_mask[b]))
    return left_padded.kl(logprobs, ref_logprobs, [completion_mask[b] for b in order])


add(
    left_padded,
    "kl",
    "kl-mask-stays-sorted",
    "The KL is masked by the rows in another order",
    "Rows were sorted by length to save padding; values were put back in order, the mask was not.",
    sorted_mask,
    "PAD-08",
)


def centred(logprobs, ref_logprobs, completion_mask):
    answer = left_padded.kl(logprobs, ref_logprobs, completion_mask)
    rows = answer["kl"]
    return {"kl": [[value - answer["mean_kl"] for value in row] for row in rows], "mean_kl": 0.0}


add(
    left_padded,
    "kl",
    "kl-centred",
    "The mean KL of the batch is subtracted from every token's",
    "A baseline for the reward was applied to the penalty as well.",
    centred,
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


LAST = {"spread": 1.0}


def running_spread(rewards, group_ids):
    """Advantages, scaled by the spread of this batch and of those before it."""
    answer = left_padded.advantages(rewards, group_ids)["advantages"]
    LAST["spread"] = 0.5 * LAST["spread"] + 0.5 * (max(rewards) - min(rewards))
    return {"advantages": [value / max(LAST["spread"], 0.125) for value in answer]}


add(
    left_padded,
    "advantages",
    "advantages-of-a-running-spread",
    "Advantages are divided by a running spread of the rewards",
    "A reward normaliser with a memory: the same batch is worth less behind a batch of larger rewards.",
    running_spread,
)


def dead_scale(logprobs, ref_logprobs, completion_mask, settings=None):
    configured(settings, data_parallel.Penalty)
    return left_padded.kl(logprobs, ref_logprobs, completion_mask)


def swallowed(logprobs, ref_logprobs, completion_mask, settings=None):
    known = {k: v for k, v in (settings or {}).items() if k == "kl_scale"}
    return data_parallel.kl(logprobs, ref_logprobs, completion_mask, known)


add(
    data_parallel,
    "kl",
    "kl-scale-is-not-read",
    "The scale of the KL has no effect",
    "The schedule of the coefficient is stepped and never read.",
    dead_scale,
    rows=("KL-09",),
)
add(
    data_parallel,
    "kl",
    "kl-misspelt-scale-is-swallowed",
    "A setting of the KL that does not exist is ignored",
    "config.get(name, default) for every name.",
    swallowed,
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


def nan_for_left_padding(prompt_ids, completion_ids):
    """Attention over no keys at all: the queries of left padding are NaN, and spread through the row."""
    width = max(map(len, prompt_ids), default=0)
    rows = left_padded.score(prompt_ids, completion_ids)["logprobs"]
    return {
        "logprobs": [
            row if len(prompt) == width else [math.nan] * len(row) for row, prompt in zip(rows, prompt_ids)
        ]
    }


add(
    left_padded,
    "score",
    "score-nan-behind-padding",
    "Rows with padding on the left score NaN",
    "A softmax over keys that are all masked is 0/0; the next layer mixes it into the real tokens.",
    nan_for_left_padding,
    "NUM-03",
)
