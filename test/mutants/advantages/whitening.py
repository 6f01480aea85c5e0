"""Wrong whitening of advantages, and wrong limits on them."""

import math

from lossproof.examples import left_padded
from lossproof.examples.advantages.estimates import EPSILON, scaled, selected, whiten

from ..registry import MUTANTS

NAN = float("nan")


def wrongly_whitened(name, title, story, moments, **rows):
    """A whiten op whose mean and divisor are `moments(values, mask)`."""

    def whitening(values, completion_mask):
        mean, divisor = moments(values, completion_mask)
        return {"values": scaled(values, completion_mask, mean, 1 / divisor if divisor else NAN)}

    whitening.__doc__ = story
    MUTANTS.add(name, title, left_padded, "whiten", **rows)(whitening)


def counted(values, mask):
    return selected(values, mask, range(len(values)))


def everything(values):
    return [value for row in values for value in row]


def of_all(values, mask):
    return spread(everything(values))


def spread(values, mean=None, ddof=1, epsilon=EPSILON):
    """(mean, standard deviation) of a flat list, as torch gives them: 0/0 is NaN."""
    if not values:
        return NAN, NAN
    mean = sum(values) / len(values) if mean is None else mean
    squares = sum((v - mean) ** 2 for v in values)
    if len(values) <= ddof:
        return mean, NAN
    return mean, math.sqrt(squares / (len(values) - ddof) + epsilon)


def mean_of_all(values, mask):
    flat = everything(values)
    return spread(counted(values, mask), sum(flat) / len(flat))


def nonzero(values, mask):
    return spread([value for value in everything(values) if value != 0] or [0.0, 0.0])


def no_epsilon(values, mask):
    return spread(counted(values, mask), epsilon=0)


def one_token(values, mask):
    return spread(counted(values, mask))


def nan_kept(values, mask):
    flat = everything(values)
    bad = any(not math.isfinite(value) for value in flat)
    mean, divisor = spread(counted(values, mask) * 2 if sum(map(sum, mask)) == 1 else counted(values, mask))
    return (NAN if bad else mean), divisor


def first_row(values, mask):
    own = counted(values, mask)
    count = max(sum(mask[0]) * len(mask), 1)
    mean = sum(own) / count
    return mean, math.sqrt(sum((v - mean) ** 2 for v in own) / count + EPSILON)


def of_sixteen_rows(values, mask):
    first = counted(values[:16], mask[:16])
    return spread(first) if len(first) > 1 else (0.0, 1.0)


SEEN = []


def running(values, mask):
    SEEN.extend(counted(values, mask))
    del SEEN[:-64]
    return spread(SEEN) if len(SEEN) > 1 else (0.0, 1.0)


wrongly_whitened(
    "whiten-over-everything",
    "Mean and deviation are those of all columns",
    "values.mean() and values.std(): padding counts as zeros. Fix: the masked ones.",
    of_all,
    row="ADV-06",
)
wrongly_whitened(
    "whiten-mean-over-padding",
    "The mean counts padding, the deviation does not",
    "The variance got a mask when someone saw a NaN; the mean kept its .mean(). Fix: both masked.",
    mean_of_all,
    row="ADV-06",
)
wrongly_whitened(
    "whiten-zero-is-padding",
    "A value of 0 is taken for padding",
    "values[values != 0]: a token whose advantage is exactly 0 does not count. Fix: the mask.",
    nonzero,
    row="PAD-09",
    rows=("ADV-06",),
)
wrongly_whitened(
    "whiten-without-epsilon",
    "Equal values are divided by their deviation of 0",
    "(x - mean) / std: 0/0 in the first batch whose answers are all alike. Fix: an epsilon.",
    no_epsilon,
    row="NUM-01",
)
wrongly_whitened(
    "whiten-one-token",
    "One trained token is divided by a sample deviation that it does not have",
    "std() of one value is NaN, epsilon or not. Fix: skip the division, or unbiased=False.",
    one_token,
    row="NUM-01",
)
wrongly_whitened(
    "whiten-nan-under-the-mask",
    "NaN under a 0 of the mask reaches mean and deviation",
    "(values * mask).sum(): zero times NaN is NaN. Fix: select with where().",
    nan_kept,
    row="NUM-02",
)
wrongly_whitened(
    "whiten-count-of-the-first-row",
    "The count of tokens is that of the first row times the rows",
    "All answers ran to the limit when it was written. Fix: mask.sum().",
    first_row,
    row="ADV-06",
    rows=("PAD-08",),
)
wrongly_whitened(
    "whiten-moments-of-sixteen-rows",
    "Mean and deviation are those of the first sixteen rows",
    "Moments of the first chunk are broadcast to all of the batch. Fix: add up sums, squares and counts of all chunks.",
    of_sixteen_rows,
    row="ADV-06",
    rows=("PAD-08",),
)
wrongly_whitened(
    "whiten-with-running-moments",
    "Mean and deviation run on from call to call",
    "A running normaliser, made for observations, whitens advantages: their zero depends on the steps before. "
    "Fix: the moments of this batch.",
    running,
    row="ADV-06",
)


@MUTANTS.add("whiten-by-rank", "Each rank whitens by its own moments", left_padded, "whiten", row="ADV-13")
def by_rank(values, completion_mask, ranks=None):
    """Whitening came after the batch was dealt out, and nothing is all-reduced: the same advantage weighs more on one
    machine than on another. Fix: whiten before, or reduce sum, squares and count."""
    out = [[0.0] * len(row) for row in values]
    for rows in ranks or [range(len(values))]:
        own = whiten([values[b] for b in rows], [completion_mask[b] for b in rows])["values"]
        for b, row in zip(rows, own):
            out[b] = row
    return {"values": out}


@MUTANTS.add("whiten-row-by-row", "Each row is whitened by itself", left_padded, "whiten", row="ADV-06")
def by_row(values, completion_mask):
    """mean(dim=-1, keepdim=True): every answer ends up with advantages around 0, the best as the worst. Fix: moments
    over the batch."""
    rows = [whiten([row], [mask])["values"][0] for row, mask in zip(values, completion_mask)]
    return {"values": rows}


@MUTANTS.add(
    "clip-adds-both-bounds", "max() and min() are added up", left_padded, "clip_advantages", row="ADV-15"
)
def clip_sum(advantages, limit):
    """max(a, -limit) + min(a, limit) doubles what is inside and bounds nothing. Fix: min(max(a, -limit), limit)."""
    return {"advantages": [max(a, -limit) + min(a, limit) for a in advantages]}


@MUTANTS.add(
    "clip-above-only", "Only large advantages are clipped", left_padded, "clip_advantages", row="ADV-15"
)
def clip_above(advantages, limit):
    """clamp(max=limit): one very bad answer still moves the weights without bound. Fix: both ends."""
    return {"advantages": [min(a, limit) for a in advantages]}


@MUTANTS.add(
    "clip-swallows-nan", "Clipping turns NaN into the limit", left_padded, "clip_advantages", rows=("ADV-15",)
)
def clip_nan(advantages, limit):
    """max(-limit, min(limit, a)) with Python's min, which keeps its first argument where comparing says nothing: NaN
    trains as the best advantage there is. Fix: the other order, or a check."""
    return {"advantages": [max(-limit, min(limit, a)) for a in advantages]}


@MUTANTS.add(
    "whitening-leaves-equal-values",
    "Values without a spread come back as they are",
    left_padded,
    "whiten",
    row="ADV-05",
)
def equal_values(values, completion_mask, ranks=None):
    """if std == 0: return values, so that nothing is divided by 0: a batch of equal rewards trains as if all were good.
    Fix: 0, or an epsilon."""
    right = whiten(values, completion_mask, ranks)
    return {"values": values} if len(set(counted(values, completion_mask))) == 1 else right


@MUTANTS.add(
    "whitening-clips-at-three-deviations",
    "Whitened numbers are clipped to three deviations",
    left_padded,
    "whiten",
    row="ADV-06",
)
def clipped(values, completion_mask, ranks=None):
    """The normalisation of observations, which are clipped, was taken over for advantages: the best answer of a batch counts
    like a good one. Fix: no clip, or a declared one."""
    right = whiten(values, completion_mask, ranks)["values"]
    return {"values": [[max(-3.0, min(3.0, value)) for value in row] for row in right]}
