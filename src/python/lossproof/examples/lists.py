"""Rows of unequal length into rectangles, and what a row of logits says about a token. Plain lists, float64."""

import math


def pad_left(rows, pad, width=None):
    """((B, T) ids, (B, T) mask with 1 on real tokens), every row flush right."""
    width = width or max(map(len, rows), default=0)
    return (
        [[pad] * (width - len(row)) + list(row) for row in rows],
        [[0] * (width - len(row)) + [1] * len(row) for row in rows],
    )


def pad_right(rows, pad, width=None):
    """Likewise, every row flush left."""
    width = width or max(map(len, rows), default=0)
    return (
        [list(row) + [pad] * (width - len(row)) for row in rows],
        [[1] * len(row) + [0] * (width - len(row)) for row in rows],
    )


def positions(attention_mask):
    """Of one row: how many real tokens stand before each; 0 on padding."""
    out, seen = [], 0
    for real in attention_mask:
        out.append(seen if real else 0)
        seen += real
    return out


def beside(left, right):
    """[left | right], row by row."""
    return [list(a) + list(b) for a, b in zip(left, right)]


def shard_spans(width, shards):
    """[(start, end), ...]: the columns of each sequence-parallel shard, as equal as they get."""
    edges = [width * n // shards for n in range(shards + 1)]
    return list(zip(edges, edges[1:]))


def through_stop(ids, eos_token_ids):
    """ids up to and including the first stop token; all of them where there is none."""
    for at, id in enumerate(ids):
        if id in eos_token_ids:
            return list(ids[: at + 1])
    return list(ids)


def log_softmax(logits, id):
    """log p(id) under softmax(logits), one row of V numbers."""
    top = max(logits)
    return logits[id] - top - math.log(sum(math.exp(z - top) for z in logits))
