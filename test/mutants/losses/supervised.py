"""Wrong supervised losses: shifts, ignored labels, denominators; and shards that add up to something else than
the row."""

import math

from conformance import data_parallel
from lossproof.examples import left_padded
from lossproof.examples.lists import log_softmax, shard_spans

from ..registry import MUTANTS

IGNORED = -100


def summed(back, is_trained, per_micro_batch=False):
    """An sft_loss op: label t under the logits at t - `back` (right: 1), over labels that `is_trained`."""

    def sft_loss(input_ids, labels, logits, micro_batches):
        places = [
            [t for t, label in enumerate(row) if t >= max(back, 1) and is_trained(label)] for row in labels
        ]
        tokens = sum(map(len, places))
        total, weights = 0.0, [[0.0] * len(row) for row in labels]
        for rows in micro_batches:
            own = sum(len(places[b]) for b in rows) * len(micro_batches)
            size = max(own if per_micro_batch else tokens, 1)
            for b in rows:
                for t in places[b]:
                    total -= log_softmax(logits[b][t - back], max(labels[b][t], 0)) / size
                    weights[b][t] = -1 / size
        return {"loss": total, "loss_weights": weights, "trained_tokens": tokens}

    return sft_loss


def labelled(label):
    return label != IGNORED


def add(name, title, story, wrong, **rows):
    wrong.__doc__ = story
    MUTANTS.add(name, title, left_padded, "sft_loss", **rows)(wrong)


def nan_of_nothing(input_ids, labels, logits, micro_batches):
    right = left_padded.sft_loss(input_ids, labels, logits, micro_batches)
    return right if right["trained_tokens"] > 0 else dict(right, loss=math.nan)


add(
    "sft-of-nothing-is-nan",
    "The mean over labels is 0/0 where all are ignored",
    "cross_entropy with ignore_index divides by the labels that are left: an answer that was cut away whole is NaN.",
    nan_of_nothing,
    row="NUM-01",
    rows=("TRN-04",),
)


add(
    "sft-not-shifted",
    "Each label is scored under the logits of its own position",
    "The model was taught to copy its input; the loss falls to zero within minutes.",
    summed(0, labelled),
    row="LP-01",
)
add(
    "sft-shifted-twice",
    "Labels are shifted by the collator and again by the loss",
    "The model is taught to predict the token after next.",
    summed(2, labelled),
    row="LP-01",
)
add(
    "sft-trains-ignored",
    "Labels of -100 are trained as token 0",
    "labels.clamp(min=0) made an index error go away, and prompt and padding became targets.",
    summed(1, lambda label: True),
    row="PAD-09",
    rows=("MSK-01",),
)
add(
    "sft-mean-of-means",
    "The loss is the mean of the micro-batches' means",
    "The gradient accumulation bug of 2024: tokens in short micro-batches weigh more.",
    summed(1, labelled, per_micro_batch=True),
    row="LOSS-01",
)


@MUTANTS.add("sft-denominator-counts-padding", "The loss divides by all columns", left_padded, row="LOSS-11")
def sft_loss(input_ids, labels, logits, micro_batches):
    """reduction="sum" divided by labels.numel(): the more padding, the smaller the step."""
    right = left_padded.sft_loss(input_ids, labels, logits, micro_batches)
    share = right["trained_tokens"] / sum(map(len, labels))
    weights = [[weight * share for weight in row] for row in right["loss_weights"]]
    return dict(right, loss=right["loss"] * share, loss_weights=weights)


@MUTANTS.add(
    "sft-denominator-of-the-first-row",
    "Every row is divided by the label count of the first",
    left_padded,
    "sft_loss",
    row="LOSS-03",
)
def sft_first_row(input_ids, labels, logits, micro_batches):
    """num_items was computed on labels[0] and multiplied by the batch size, right while rows were packed to one
    length. Fix: count the labels of all rows."""
    right = left_padded.sft_loss(input_ids, labels, logits, micro_batches)
    first = sum(label != IGNORED for label in labels[0][1:])
    share = right["trained_tokens"] / max(first * len(labels), 1)
    weights = [[weight * share for weight in row] for row in right["loss_weights"]]
    return dict(right, loss=right["loss"] * share, loss_weights=weights)


@MUTANTS.add(
    "sft-nan-of-an-empty-row",
    "A row without labels makes the loss NaN",
    left_padded,
    "sft_loss",
    row="NUM-01",
)
def sft_empty_row(input_ids, labels, logits, micro_batches):
    """Each row's mean, times its share of the labels: the mean of nothing is NaN, and 0 times NaN is NaN. One
    conversation whose answer was cut off by max_length, and all weights are gone. Fix: sum, and divide once."""
    right = left_padded.sft_loss(input_ids, labels, logits, micro_batches)
    empty = any(all(label == IGNORED for label in row[1:]) for row in labels)
    return dict(right, loss=float("nan")) if empty else right


@MUTANTS.add(
    "sft-counts-all-tokens", "Every column counts as a trained token", left_padded, "sft_loss", row="MSK-10"
)
def sft_count(input_ids, labels, logits, micro_batches):
    """num_tokens = input_ids.numel() is what throughput is logged with, and the same number was handed on as
    num_items_in_batch. Fix: count labels that are not -100, behind the shift."""
    right = left_padded.sft_loss(input_ids, labels, logits, micro_batches)
    return dict(right, trained_tokens=sum(map(len, input_ids)))


@MUTANTS.add(
    "sft-counts-the-first-column",
    "Labels are counted before the shift",
    left_padded,
    "sft_loss",
    row="LOSS-03",
)
def sft_unshifted_count(input_ids, labels, logits, micro_batches):
    """num_items_in_batch = (labels != -100).sum(): a label at column 0 is counted and never trained. Fix: count
    labels[:, 1:]."""
    right = left_padded.sft_loss(input_ids, labels, logits, micro_batches)
    share = right["trained_tokens"] / max(sum(label != IGNORED for row in labels for label in row), 1)
    weights = [[weight * share for weight in row] for row in right["loss_weights"]]
    return dict(right, loss=right["loss"] * share, loss_weights=weights)


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


def in_shards(name, title, story, per_shard, row):
    wrong = sharded(per_shard)
    wrong.__doc__ = story
    MUTANTS.add(name, title, left_padded, "sft_loss", row=row)(wrong)


in_shards(
    "sft-shards-lose-their-last-label",
    "The label behind the end of each shard is never trained",
    "Each shard shifts its own labels, and the one that its last position predicts lives on the next machine. Fix: "
    "shift before the row is split.",
    lambda mine, end, tokens, shards: [(b, t, 1 / tokens) for b, t in mine if t != end],
    "LP-03",
)
in_shards(
    "sft-mean-of-shard-means",
    "The loss is the mean of the shards' means",
    "Each shard divides by its own labels, and the means are averaged: the labels of a shard that is mostly prompt weigh "
    "more. Fix: add up sums and counts over the shards, then divide.",
    lambda mine, end, tokens, shards: [(b, t, 1 / len(mine) / shards) for b, t in mine],
    "LOSS-10",
)
in_shards(
    "sft-loss-times-shards",
    "The loss grows with the number of shards",
    "Data-parallel averaging divides by all machines, so the loss is multiplied by them; those that hold shards of one "
    "row are no data parallelism. Fix: multiply by the data-parallel size.",
    lambda mine, end, tokens, shards: [(b, t, shards / tokens) for b, t in mine],
    "LOSS-10",
)


def weighted(name, title, story, terms):
    wrong = data_parallel.sft_loss_of(terms)
    wrong.__doc__ = story
    MUTANTS.add(name, title, data_parallel, "sft_loss", row="LOSS-15")(wrong)


def times(factors):
    """Terms of labels whose weights have no gradient."""

    def terms(logprobs):
        return [(-factor * value, -factor) for factor, value in zip(factors(logprobs), logprobs)]

    return terms


weighted(
    "dft-weight-has-a-gradient",
    "The probability that weighs a label in DFT has a gradient of its own",
    "-(p * log p) without detach: below a probability of 1/e the label is pushed down.",
    lambda logprobs: [(-math.exp(p) * p, -math.exp(p) * (1 + p)) for p in logprobs],
)
weighted(
    "dft-weighs-by-the-rest",
    "DFT weighs a label by what the model is missing of it",
    "1 - p: the weight of a focal loss, which does the opposite.",
    times(lambda logprobs: [1 - math.exp(p) for p in logprobs]),
)
weighted(
    "dft-weighs-by-the-label-before",
    "DFT weighs a label by the probability of the one before it",
    "Probabilities were shifted once more than the labels.",
    times(lambda logprobs: [math.exp(p) for p in logprobs[:1] + logprobs[:-1]]),
)
weighted(
    "dft-weighs-by-the-row",
    "DFT weighs every label by the mean probability of its row",
    "The weight was taken of the loss, which is a mean already: exp(-loss) * loss.",
    times(lambda logprobs: [math.exp(sum(logprobs) / len(logprobs)) for _ in logprobs]),
)
weighted(
    "dft-weighs-twice",
    "DFT weighs a label by the square of its probability",
    "The loss comes from a kernel that has weighed it already.",
    times(lambda logprobs: [math.exp(2 * p) for p in logprobs]),
)
