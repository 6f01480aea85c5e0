"""What else than one target may be in a loss, as columns that a gradient is a sum of: label smoothing, an entropy term, a
teacher. A form is believed of a backward pass where it explains positions that one target leaves open, to the last digits
that their dtype has; its numbers are then told, and weights are exact again. Nothing here is of one route.

    uniform    dL/dz_v = -e w / V, the same for all v     label smoothing e of a target of the weight w
    entropy    dL/dz_v = c p_v (log p_v + H)              c times the negative entropy is in the loss
    normalizer dL/dz_v = c p_v                             a function of log sum exp z is in the loss (a z-loss)
    teacher    dL/dz_v = b t (p_v - q_v) at temperature t  b t^2 KL(q || p) is in the loss; others: _several.toward
"""

import torch

from ._recovery import IDENTITY

# Tried in this order, the simpler ones first.
FORMS = (("uniform",), ("entropy",), ("uniform", "entropy"))

# One target is no explanation where it leaves more than this, whatever the model is sure of.
MOST_LEFT = {"float64": 1e-3, "float32": 1e-2, "float16": 5e-2, "bfloat16": 0.15}

# Positions that a form is looked for on, and the share of them that it must explain.
SAMPLE = 24
EXPLAINED = 0.6

# A form is fitted to at least so many positions, and checked on as many, each in at least two columns: of one column anything
# may be wrong in a way of its own.
LEAST = 2

# It explains far better than one target alone.
BETTER = 0.25

# Rounds of weighing each entry by the size of what it is made of, which is what its rounding is a share of.
ROUNDS = 3


def halves(places, sizes, columns):
    """Positions to fit a form to, and others to check it on: of `places` (n,) the largest by `sizes`, those of each column in
    turn, the largest first. None where either has too few columns."""
    order = sizes.argsort(descending=True, stable=True)[: 2 * SAMPLE]
    rank = torch.arange(order.numel(), device=order.device)
    by_column = columns[order].argsort(stable=True)
    turns = [order[rank[by_column[turn::2]].sort().values] for turn in (0, 1)]
    if any(columns[half].unique().numel() < LEAST for half in turns):
        return None
    return [places[half] for half in turns]


class Shape:
    """The form of one backward pass; remembered, as the next one most likely has the same."""

    def __init__(self, parts=(), tau=None, post=IDENTITY, teacher=None, toward="forward", mixed=None):
        self.parts, self.tau, self.post, self.teacher = parts, tau, post, teacher
        # Which divergence from the teacher, and the share that the teacher has in the mixture of a Jensen-Shannon divergence.
        self.toward, self.mixed = toward, mixed

    @property
    def plain(self):
        return not self.parts and self.post.identity and self.teacher is None


def believed(residual, logprob, precision, band):
    """(n,) the most that may be left of each gradient. Of a token that the model is sure of the gradient is a difference of
    nearly equal numbers, and rounding weighs more in it."""
    unsure = (-torch.expm1(logprob.clamp(max=0))).nan_to_num(1.0).clamp(min=1e-6, max=1.0)
    return (band / unsure).clamp(max=max(band, MOST_LEFT[precision])).expand_as(residual)


def solve(columns, g, use):
    """(coefficients (n, C), what is left (n, K), the size of what each entry is made of (n, K)) of g (n, K) as a sum of `columns`
    (n, K) each, by least squares over the entries in `use`, in float64. Each entry counts by its own relative precision."""
    size = g.abs() + g.abs().mean(1, keepdim=True)
    coefficients = parts = None
    for _ in range(ROUNDS):
        weight = torch.where(use, 1 / size.clamp(min=1e-300), 0.0)
        coefficients = least_squares([column * weight for column in columns], g * weight)
        parts = [column * coefficients[:, at : at + 1] for at, column in enumerate(columns)]
        size = sum(part.abs() for part in parts) + 1e-12 * g.abs().amax(1, keepdim=True)
    return coefficients, g - sum(parts), size


def least_squares(columns, y):
    """(n, C) by Gram and Schmidt, twice, as columns may nearly agree; 0 for what cannot be told apart."""
    base, triangle = [], []
    for column in columns:
        length = column.norm(dim=1)
        v, along = column, []
        for _ in range(2):
            for place, q in enumerate(base):
                share = (q * v).sum(1)
                v = v - share[:, None] * q
                if place < len(along):
                    along[place] = along[place] + share
                else:
                    along.append(share)
        left = v.norm(dim=1)
        good = left > 1e-10 * length
        base.append(torch.where(good[:, None], v / left.clamp(min=1e-300)[:, None], 0.0))
        triangle.append((along, torch.where(good, left, torch.inf)))
    found = [None] * len(columns)
    for at in reversed(range(len(columns))):
        value = (base[at] * y).sum(1)
        for behind in range(at + 1, len(columns)):
            value = value - triangle[behind][0][at] * found[behind]
        found[at] = value / triangle[at][1]
    return torch.stack(found, 1)


def agree(values, room=0.2):
    """The one number that most of these are, or None."""
    values = values[values.isfinite()]
    if values.numel() == 0:
        return None
    middle = float(values.median())
    near = ((values - middle).abs() <= room * abs(middle)).double().mean()
    return middle if middle != 0 and float(near) >= EXPLAINED else None


def same_sign(values):
    values = values[values.isfinite()]
    return values.numel() > 0 and float((values.sign() == values.median().sign()).double().mean()) >= 0.9


def golden(left, low, high, points=13, until=1e-5):
    """(x, left(x)) where left is least: golden section over the logarithm of x, about the best point of a coarse grid."""
    import math

    low, high = math.log(low), math.log(high)
    grid = [low + (high - low) * index / (points - 1) for index in range(points)]
    values = [left(math.exp(x)) for x in grid]
    best = min(range(points), key=values.__getitem__)
    a, b = grid[max(0, best - 1)], grid[min(points - 1, best + 1)]
    ratio = (math.sqrt(5) - 1) / 2
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = left(math.exp(c)), left(math.exp(d))
    while b - a > until:
        if at_c < at_d:
            b, d, at_d = d, c, at_c
            c = b - ratio * (b - a)
            at_c = left(math.exp(c))
        else:
            a, c, at_c = c, d, at_d
            d = a + ratio * (b - a)
            at_d = left(math.exp(d))
    x = (a + b) / 2
    return math.exp(x), left(math.exp(x))


def consistent(values, shape):
    """Its numbers are those of one loss: found at all, and of one size or sign wherever it is."""
    if shape.teacher is not None:
        return same_sign(values["teacher sign"]) and float(values["teacher sign"].nanmedian()) > 0
    if "uniform" in shape.parts:
        share = agree(values["uniform"])
        if share is None or not 1e-4 < share < 0.95:
            return False
    return all(same_sign(values[sign]) for sign in ("entropy sign", "normalizer sign") if sign in values)


def terms_of(values, fits, shape, post):
    """As the record has them. Sums are over the positions of the pass."""
    out = []
    if not shape.post.identity and post.identity:
        out.append({"kind": "softcap", "cap": shape.post.cap})
    if "uniform" in shape.parts:
        share = agree(values["uniform"][fits])
        out.append({"kind": "smoothing", "epsilon": share})
    if "normalizer" in shape.parts:
        out.append({"kind": "normalizer", **rewarded(values, fits)})
    if "entropy" in shape.parts:
        total = float(values["entropy"][fits].sum())
        out.append({"kind": "entropy", "sum": total, "rewarded": bool(values["entropy sign"][fits].median() > 0)})
    if shape.teacher is not None:
        total = float(values["teacher"][fits].sum())
        other = {} if shape.toward == "forward" else {"toward": shape.toward}
        if shape.mixed is not None:
            other["mixed"] = shape.mixed
        if shape.teacher.columns != 0:
            other["columns"] = shape.teacher.columns
        out.append({"kind": "teacher", "model": shape.teacher.model, "temperature": shape.tau, "sum": total, **other})
    return out


def rewarded(values, fits):
    """Whether large logits are what the loss wants: where log sum exp z is above 0, c lse^2 grows with it for c > 0."""
    if "above" not in values:
        return {}
    signs = values["normalizer sign"][fits & (values["above"] > 0)]
    return {"rewarded": bool(signs.nanmedian() < 0)} if same_sign(signs) else {}
