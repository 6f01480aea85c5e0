"""Wrong KL: other estimators than declared, other masks, settings that are not read."""

from conformance import data_parallel
from conformance.data_parallel import configured
from lossproof.examples import left_padded, stop_excluded
from lossproof.examples.left_padded import count, k3

from ..in_place import masked, written
from ..registry import MUTANTS


def estimated(estimate):
    """A kl op that is right but for `estimate(logprob, ref_logprob)`."""

    def kl(logprobs, ref_logprobs, completion_mask):
        rows = [
            [estimate(p, q) if on else 0.0 for p, q, on in zip(*row)]
            for row in zip(logprobs, ref_logprobs, completion_mask)
        ]
        return {"kl": rows, "mean_kl": sum(map(sum, rows)) / max(count(completion_mask), 1)}

    kl.__doc__ = estimate.__doc__
    return kl


def without_one(p, q):
    """exp(d) - d, its - 1 forgotten: the gradient is right, and the logged KL is 1 where nothing has moved."""
    return k3(p, q) + 1


def reversed_k3(p, q):
    """exp(logprob - ref) where exp(ref - logprob) belongs: an estimate of something else, with another gradient."""
    return k3(q, p)


def k1(p, q):
    """logprob - ref is declared as k3: its gradient as a loss is zero in expectation."""
    return p - q


def absolute(p, q):
    """|logprob - ref|: an estimator that exists in one code base and is declared as k3."""
    return abs(p - q)


MUTANTS.add("kl-reversed", "KL has the sign of d reversed", left_padded, "kl", row="KL-03")(
    estimated(reversed_k3)
)
MUTANTS.add("kl-k1-declared-k3", "KL is k1, declared as k3", left_padded, "kl", row="KL-02", rows=("KL-06",))(
    estimated(k1)
)
MUTANTS.add("kl-forgets-the-one", "KL is exp(d) - d, without its - 1", left_padded, "kl")(
    estimated(without_one)
)
MUTANTS.add("kl-absolute", "KL is the absolute difference, declared as k3", left_padded, "kl", row="KL-06")(
    estimated(absolute)
)


@MUTANTS.add("kl-mean-over-padding", "Masked tokens leak into the mean KL", left_padded, row="KL-08")
def kl(logprobs, ref_logprobs, completion_mask):
    """kl.mean() instead of the masked mean: prompts, tools and padding count."""
    rows = [[k3(p, q) for p, q in zip(*row)] for row in zip(logprobs, ref_logprobs)]
    size = max(sum(map(len, rows)), 1)
    return {"kl": rows, "mean_kl": sum(map(sum, rows)) / size}


@MUTANTS.add(
    "kl-mean-over-all-columns", "The masked KL is divided by all columns", left_padded, "kl", row="LOSS-11"
)
def kl_all_columns(logprobs, ref_logprobs, completion_mask):
    """(kl * mask).mean(): the tokens are right, and the mean that is logged, and that steers the coefficient, shrinks
    with every column of padding. Fix: divide by mask.sum()."""
    right = left_padded.kl(logprobs, ref_logprobs, completion_mask)
    size = max(sum(map(len, completion_mask)), 1)
    return dict(right, mean_kl=sum(map(sum, right["kl"])) / size)


@MUTANTS.add(
    "kl-nan-under-the-mask",
    "NaN under a 0 of the mask reaches the mean KL",
    left_padded,
    "kl",
    row="NUM-06",
    rows=("NUM-02",),
)
def kl_nan(logprobs, ref_logprobs, completion_mask):
    """(kl * mask).sum(): zero times NaN is NaN, and so is infinity minus infinity, which is what log-probabilities of
    masked logits differ by. Fix: select with where() before the sum."""
    right = left_padded.kl(logprobs, ref_logprobs, completion_mask)
    total = sum(
        on * (k3(p, q) if on else q - p)
        for row in zip(logprobs, ref_logprobs, completion_mask)
        for p, q, on in zip(*row)
    )
    return dict(right, mean_kl=total / max(count(completion_mask), 1))


def add(base, op, name, title, story, wrong, row="", **more):
    wrong.__doc__ = story
    MUTANTS.add(name, title, base, op, row=row, **more)(wrong)


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


@MUTANTS.add("kl-mean-with-left-pads", "Left padding is in the reported KL", stop_excluded, "kl", row="KL-13")
def kl_with_left_pads(logprobs, ref_logprobs, completion_mask):
    """Numbers of the whole row up to its last trained token are summed: prompts and the padding before them, where
    each model says what it likes. The logged KL goes below zero. Fix: sum under the mask."""
    right = stop_excluded.kl(logprobs, ref_logprobs, completion_mask)
    total = 0.0
    for p, q, mask in zip(logprobs, ref_logprobs, completion_mask):
        end = max((t + 1 for t, on in enumerate(mask) if on), default=0)
        total += sum(p[:end]) - sum(q[:end])
    return dict(right, mean_kl=total / max(count(completion_mask), 1))


@MUTANTS.add(
    "kl-logged-over-all-columns",
    "The reported KL is a mean of log-ratios, padding included",
    left_padded,
    "kl",
    row="KL-13",
)
def kl_logged(logprobs, ref_logprobs, completion_mask):
    """(logprobs - ref_logprobs).mean() for the log, k3 for the loss: what is logged under the name of the KL may be
    negative, and padding is in it. Fix: log the masked mean of the estimate that is used."""
    right = left_padded.kl(logprobs, ref_logprobs, completion_mask)
    columns = [p - q for row in zip(logprobs, ref_logprobs) for p, q in zip(*row)]
    return dict(right, mean_kl=sum(columns) / max(len(columns), 1))


def first_tokens(mask):
    """As many tokens as are trained, from the first of them on."""
    out = []
    for row in mask:
        start = row.index(1) if 1 in row else 0
        out.append([int(start <= t < start + sum(row)) for t in range(len(row))])
    return out


@MUTANTS.add(
    "kl-over-the-first-tokens",
    "KL is taken over as many tokens as are trained, from the first on",
    left_padded,
    "kl",
    row="KL-08",
    rows=("MSK-10",),
)
def kl_by_length(logprobs, ref_logprobs, completion_mask):
    """The KL is cut to response_length, which does not count what a tool wrote. Fix: the mask."""
    return left_padded.kl(logprobs, ref_logprobs, first_tokens(completion_mask))


def one_token_more(logprobs, ref_logprobs, completion_mask):
    """sum / (mask.sum() + 1), to keep an empty batch from dividing by zero: short batches log less. Fix: clamp(min=1)."""
    right = left_padded.kl(logprobs, ref_logprobs, completion_mask)
    tokens = count(completion_mask)
    return {"mean_kl": right["mean_kl"] * tokens / (tokens + 1)}


MUTANTS.add(
    "kl-mean-over-one-token-more",
    "The mean KL divides by the trained tokens plus one, and only the mean is answered",
    left_padded,
    "kl",
    rows=("LOSS-11",),
)(one_token_more)


@MUTANTS.add(
    "kl-certain-reference-is-not-there",
    "A reference log-probability of 0 is taken for one that is not there",
    left_padded,
    "kl",
    row="KL-08",
)
def certain(logprobs, ref_logprobs, completion_mask):
    """ref = ref or logprob: where the reference is certain of a token, the KL is 0. Fix: `is None`."""
    reference = [[q or p for p, q in zip(*row)] for row in zip(logprobs, ref_logprobs)]
    return left_padded.kl(logprobs, reference, completion_mask)


written(
    "kl",
    "kl-masks-its-input",
    "The log-probabilities are masked in place",
    "logprobs.mul_(mask) before the KL: the entropy and the ratio behind it read 0 for every prompt token. Fix: a new tensor.",
    masked("logprobs"),
    rows=("KL-08",),
)
