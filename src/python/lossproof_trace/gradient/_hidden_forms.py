"""The hidden route where one target is not all: the forms of _forms.py as directions of the hidden states, and softcaps."""

import torch

from ._forms import BETTER, EXPLAINED, FORMS, Shape, believed, consistent, golden, least_squares
from ._recovery import BAND, WORKING, Post

# What rounding may leave of the gradient of a token that the model gives the probability p, times 1 - p.
ROUNDING = {"float64": 1e-8, "float32": 4e-6, "float16": 4e-2, "bfloat16": 0.2}

# Where this share of what is let pass is left, it is worth a look whether more than one target is in the loss, and this share
# of the positions that are looked at tells: others may have targets that are no candidates.
WORTH = {"float64": 0.05, "float32": 0.05, "float16": 0.25, "bfloat16": 0.25}
TELLS = {"float64": 0.3, "float32": 0.3, "float16": EXPLAINED, "bfloat16": EXPLAINED}

# A gradient is that of a spread without a target where so much of it is.
SPREAD = 0.5

LOWEST_CAP, HIGHEST_CAP = 0.5, 500.0

# A form leaves no more than so many times what a temperature leaves: nothing tells which of the two it is.
AS_WELL = 2.0


def formed(g, h, candidates, head, shape, precision):
    """What Found has of n positions by a shape with parts, and the coefficients of those. g (n, r) in the head's directions."""
    tau = shape.tau or 1.0
    m, lse, wide, mean, flat = head.moments(h, tau)
    extra = []
    if "uniform" in shape.parts:
        extra.append((m - flat).double())
    if "normalizer" in shape.parts:
        extra.append(m.double())
    if "entropy" in shape.parts:
        extra.append((wide - mean[:, None] * m).double())
    g, norm = g.double(), g.double().norm(dim=1).clamp(min=1e-300)
    best = None
    step = max(1, WORKING // (16 * g.shape[1]))
    for ids in candidates.unbind(1):
        pulls = torch.cat([head.pull(i, x) for i, x in zip(ids.clamp(min=0).split(step), h.split(step))])
        columns = [(m - pulls).double(), *extra]
        k = least_squares(columns, g)
        left = (g - sum(column * k[:, at : at + 1] for at, column in enumerate(columns))).norm(dim=1) / norm
        left = torch.where((ids >= 0) & left.isfinite(), left, torch.inf)
        size = k[:, 0].abs() * columns[0].norm(dim=1) / norm
        now = (left, ids, k, size)
        # The earlier one where two leave the same.
        better = None if best is None else left < best[0] * (1 - 1e-3)
        best = now if best is None else tuple(torch.where(better[:, None] if a.ndim > 1 else better, b, a) for a, b in zip(best, now))
    residual, target, k, size = best
    nothing = (size <= torch.maximum(2 * residual, torch.full_like(residual, 1e-5))) & (residual <= BAND[precision])
    weight, spread = k[:, 0], torch.zeros_like(nothing)
    out = {}
    if "uniform" in shape.parts:
        out["uniform"] = torch.where(nothing, torch.nan, k[:, 1] / (weight + k[:, 1]))
        # Every token is pushed up alike, and none is the target.
        spread = nothing & (k[:, 1].abs() * extra[0].norm(dim=1) / norm > SPREAD)
        weight = torch.where(spread, k[:, 1], weight + k[:, 1])
        nothing = nothing & ~spread
    if "normalizer" in shape.parts:
        out["normalizer sign"], out["above"] = k[:, 1], (lse > 0).double()
    if "entropy" in shape.parts:
        out["entropy"] = out["entropy sign"] = k[:, -1] * tau
    logprob = head.logit(target.clamp(min=0), h) / tau - lse
    out.update(
        targets=torch.where(spread, -1, torch.where(nothing, candidates[:, 0], target)),
        weights=torch.where(nothing, 0.0, tau * weight),
        residuals=residual,
        temperatures=torch.full_like(residual, tau),
        logprobs=torch.where((target >= 0) & ~spread, logprob, torch.nan),
    )
    return out


def searched(g, h, candidates, head, shape, precision, most):
    """As `formed` has it; of positions that no candidate explains, so many (all: None) are looked for in the whole vocabulary."""
    told = formed(g, h, candidates, head, shape, precision)
    lost = (told["residuals"] > BAND[precision]).nonzero().flatten()[:most]
    if lost.numel() > 0:
        m, _ = head.moment(h[lost], shape.tau or 1.0)
        again = formed(g[lost], h[lost], head.best(g[lost], h[lost], m), head, shape, precision)
        better = again["residuals"] < BETTER * told["residuals"][lost]
        for name, value in told.items():
            value[lost[better]] = again[name][better]
    return told


def look(g, h, candidates, head, tau, precision, residual, left, sample, known, search):
    """The Shape that explains these few positions where one target leaves `residual` (n,), or None. left(head, tau): the same at
    another head or temperature. Its numbers are found on the first half of the `sample`, and are to hold on the other, too."""
    fit = sample[0]

    def fits(values):
        return believed(values["residuals"], values["logprobs"], precision, BAND[precision]) >= values["residuals"]

    def share(mask):
        """In the half of which it is less."""
        return min(float(mask[half].double().mean()) for half in sample)

    def good(shape):
        if shape.parts:
            values = formed(g, h, candidates, head.with_post(shape.post), shape, precision)
            fine = fits(values) & (values["residuals"] <= BETTER * residual)
            return share(fine) >= TELLS[precision] and consistent({k: v[fine] for k, v in values.items()}, shape)
        now = left(head.with_post(shape.post), 1.0)
        return share((now <= BAND[precision]) & (now <= BETTER * residual)) >= TELLS[precision]

    if known is not None and not known.plain and good(known):
        return known
    if not search:
        return None
    taus = [1.0] + ([tau] if tau != 1.0 else [])
    for shape in [Shape(parts, each, head.post) for each in taus for parts in (*FORMS, ("normalizer",))]:
        if good(shape):
            return shape
    if tau != 1.0:
        # One target at a temperature of its own is what an entropy term looks like at first.
        def of_tau(each):
            value = formed(g[fit], h[fit], candidates[fit], head, Shape(("entropy",), each, head.post), precision)
            value = value["residuals"].nanmedian()
            return float(value) if torch.isfinite(value) else float("inf")

        shape = Shape(("entropy",), golden(of_tau, tau / 1.2, tau * 1.2, 7, 1e-4)[0], head.post)
        if good(shape):
            return shape
    if not head.post.identity:
        return None

    def of_cap(cap):
        value = left(head.with_post(Post(1.0, cap)), 1.0)[fit].nanmedian()
        return float(value) if torch.isfinite(value) else float("inf")

    cap, least = golden(of_cap, LOWEST_CAP, HIGHEST_CAP)
    short = float("%.3g" % cap)
    cap = short if of_cap(short) <= 2 * least + 1e-6 else cap
    shape = Shape((), None, Post(1.0, cap))
    seen = min(of_cap(cap * 1.01), of_cap(cap / 1.01)) > 3 * max(least, 1e-7)
    if seen and good(shape):
        return shape

    def beside(cap):
        """The same with a term on the size of the capped logits."""
        return Shape(("normalizer",), 1.0, Post(1.0, cap))

    def of_both(cap):
        values = formed(g[fit], h[fit], candidates[fit], head.with_post(Post(1.0, cap)), beside(cap), precision)
        value = values["residuals"].nanmedian()
        return float(value) if torch.isfinite(value) else float("inf")

    cap, least = golden(of_both, LOWEST_CAP, HIGHEST_CAP)
    short = float("%.3g" % cap)
    cap = short if of_both(short) <= 2 * least + 1e-6 else cap
    seen = min(of_both(cap * 1.01), of_both(cap / 1.01)) > 3 * max(least, 1e-7)
    return beside(cap) if seen and good(beside(cap)) else None


def instead(g, h, candidates, head, precision, residual, sample):
    """As _whole.instead has it: (Shape or None, False, whether nothing tells a temperature from a form). `residual` (n,) is what
    one target at another temperature than 1 leaves; `sample` the halves, or None."""
    found, as_well = [], False
    for place, shape in enumerate(Shape(form, 1.0, head.post) for form in FORMS):
        values = formed(g, h, candidates, head, shape, precision)
        if not consistent(values, shape):
            continue
        halves_of = sample or [torch.arange(g.shape[0], device=g.device)]
        share = max(float(values["residuals"][half].median() / residual[half].median().clamp(min=1e-300)) for half in halves_of)
        as_well = as_well or share <= AS_WELL
        if share <= BETTER:
            found.append((share, place, shape))
    if not found or sample is None:
        return None, False, as_well
    return min(found, key=lambda each: each[:2])[2], False, False


def judged(values, precision):
    """`values` with what is not known left open: above what rounding leaves nothing is believed, and nothing is said against the
    loss either where the model is too sure of a token for anything to be seen."""
    residual = values["residuals"]
    limit = believed(residual, values["logprobs"], precision, BAND[precision])
    over = residual > limit
    unsure = (-torch.expm1(values["logprobs"].clamp(max=0))).nan_to_num(1.0).clamp(min=1e-12)
    rounded = over & (residual <= (ROUNDING[precision] / unsure).clamp(max=1.0)) & (values["logprobs"] > -0.1)
    out = dict(values)
    out["targets"] = torch.where(over & ~rounded, -1, values["targets"])
    for name in ("weights", "temperatures", "logprobs"):
        out[name] = torch.where(over, torch.nan, values[name].double())
    out["residuals"] = torch.where(rounded, torch.nan, residual)
    return out
