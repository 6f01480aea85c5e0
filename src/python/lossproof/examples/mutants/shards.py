"""Wrong sequence parallelism: columns computed in shards that add up to something else than the row."""

from .. import left_padded
from ..rows import log_softmax, shard_spans
from . import MUTANTS

IGNORED = -100


@MUTANTS.add("shards-lose-their-first-token", "Labels are shifted inside each shard", left_padded, row="LP-03")
def logprobs(input_ids, logits, prompt_width, temperature, shards=1):
    """logits[:, :-1] against ids[:, 1:] of the shard: the token behind a shard's end is predicted by nobody, and its
    log-probability stays 0. Fix: shift before the row is split, or hand the next token over."""
    right = left_padded.logprobs(input_ids, logits, prompt_width, temperature)["logprobs"]
    width = len(input_ids[0]) if input_ids else 0
    lost = [start for start, _ in shard_spans(width, shards) if start > 0]
    return {
        "logprobs": [
            [0.0 if prompt_width + j in lost else value for j, value in enumerate(row)] for row in right
        ]
    }


def sharded(per_shard):
    """A loss that adds up per_shard([(row, token), ...]) over the shards."""

    def sft_loss(input_ids, labels, logits, micro_batches, shards=1):
        if shards == 1:
            return left_padded.sft_loss(input_ids, labels, logits, micro_batches)
        tokens = sum(label != IGNORED for row in labels for label in row[1:])
        weights = [[0.0] * len(row) for row in input_ids]
        total = 0.0
        for rows in micro_batches:
            for start, end in shard_spans(len(input_ids[0]), shards):
                mine = [
                    (b, t)
                    for b in rows
                    for t in range(start + 1, min(end + 1, len(labels[b])))
                    if labels[b][t] != IGNORED
                ]
                for b, t, weight in per_shard(mine, end, tokens, shards):
                    total -= weight * log_softmax(logits[b][t - 1], labels[b][t])
                    weights[b][t] = -weight
        return {"loss": total, "loss_weights": weights, "trained_tokens": tokens}

    return sft_loss


def add(name, title, story, per_shard, row):
    wrong = sharded(per_shard)
    wrong.__doc__ = story
    MUTANTS.add(name, title, left_padded, "sft_loss", row=row)(wrong)


add(
    "sft-shards-lose-their-last-label",
    "The label behind the end of each shard is never trained",
    "Each shard shifts its own labels, and the one that its last position predicts lives on the next machine. Fix: "
    "shift before the row is split.",
    lambda mine, end, tokens, shards: [(b, t, 1 / tokens) for b, t in mine if t != end],
    "LP-03",
)
add(
    "sft-mean-of-shard-means",
    "The loss is the mean of the shards' means",
    "Each shard divides by its own labels, and the means are averaged: the labels of a shard that is mostly prompt weigh "
    "more. Fix: add up sums and counts over the shards, then divide.",
    lambda mine, end, tokens, shards: [(b, t, 1 / len(mine) / shards) for b, t in mine],
    "LOSS-10",
)
add(
    "sft-loss-times-shards",
    "The loss grows with the number of shards",
    "Data-parallel averaging divides by all machines, so the loss is multiplied by them; those that hold shards of one "
    "row are no data parallelism. Fix: multiply by the data-parallel size.",
    lambda mine, end, tokens, shards: [(b, t, shards / tokens) for b, t in mine],
    "LOSS-10",
)
