"""The hidden route of _recovery.py: dL/dh = k (W^T p - W_y). The softmax is made again, by blocks.

In the cheap mode the right side is compared in a few random directions only. The equation holds there as it does in all, so
that targets and weights are as exact; the residual is an estimate of what it is in all directions, good to a tenth or two.
"""

import torch

from ._forms import golden, halves, terms_of
from ._head import SKETCH, Head
from ._hidden_forms import TELLS, WORTH, instead, judged, look, searched
from ._recovery import (
    BAND,
    IDENTITY,
    NEAR_ONE,
    RESIDUAL,
    TEMPERATURE_ERROR,
    WORKING,
    Found,
    coarse_torch,
    wide,
)

# Positions on which the hidden route tries temperatures, and the range that it looks in.
TEMPERATURE_SAMPLE = 8
LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 0.05, 20.0

# Two ids with nearly the same row leave nearly the same: the better one is believed where the other leaves so many times more.
APART = 3.0


def from_hidden(
    gradient, hidden, weight, bias, candidates, precision, post=IDENTITY, check=None, search=None, guess=1.0, known=None, forms=True,
    width=None,
):
    """gradient and hidden (N, d); weight (V, d); candidates (N, C), -1 for none. check(at), in the cheap mode, picks, of the
    trained positions `at`, the indexes to compare in all directions; `search` bounds how many are looked for in the whole
    vocabulary. `guess`: the temperature of an earlier pass, which is tried first, and `known` its Shape; `forms`: whether it is
    worth the time to look for another one; `width`: columns of a row, of which the positions are one row after the other."""
    total = torch.linalg.vector_norm(gradient, ord=1, dim=-1, dtype=wide(gradient.dtype))
    finite = torch.isfinite(total)
    at = (finite & (total > 0)).nonzero().flatten()
    found = Found(at.cpu(), int((~finite).sum()))
    if at.numel() == 0:
        return found
    kind = wide(coarse_torch(gradient.dtype, hidden.dtype, weight.dtype))
    head = Head(weight, bias, post, kind)
    g, h, c = gradient[at].to(kind), hidden[at].to(kind), candidates[at]
    tau, told = hidden_temperature(g, h, c, head, RESIDUAL[precision], guess)
    columns = at % (width or gradient.shape[0])
    shape, looked, doubtful = shape_of(g, h, c, columns, head, tau, precision, known, forms)
    if shape is not None and not shape.parts:
        head = head.with_post(shape.post)
        tau, told = hidden_temperature(g, h, c, head, RESIDUAL[precision], guess)
    found.shape, found.looked = shape, looked

    def values(g, h, c, head):
        if shape is None or not shape.parts:
            one = judged(fitted(g, h, c, head, tau, told, RESIDUAL[precision], search), precision)
            return one if not doubtful else {**one, **{name: one[name] * torch.nan for name in ("weights", "temperatures", "logprobs")}}
        told_of = searched(g, h, c, head, shape, precision, search)
        return {**told_of, **judged(told_of, precision)}

    if shape is not None:
        head = head.with_post(shape.post)
    if check is None or 2 * SKETCH >= head.width:
        last = values(g, h, c, head)
        found.put(slice(None), **last)
    else:
        sketch, directions = head.sketched()
        last = values(g @ directions, h, c, sketch)
        found.put(slice(None), **last)
        some = check(at)
        found.put(some.cpu(), **values(g[some], h[some], c[some], head))
    if shape is not None:
        found.terms = terms_of(last, last["weights"].isfinite(), shape, post)
    why_unread(found, last.get("unsearched"), doubtful)
    return found


def why_unread(found, unsearched, doubtful):
    nothing = found.weights.isnan()
    if doubtful:
        found.left("temperature", nothing)
        return
    nothing &= found.residuals.isnan()
    searched = torch.ones_like(nothing) if unsearched is None else ~unsearched.cpu()
    found.left("search", nothing & ~searched)
    found.left("twins", nothing & searched & (found.targets < 0))
    found.left("sure", nothing & searched & (found.targets >= 0))


def shape_of(g, h, c, columns, head, tau, precision, known, forms):
    """(Shape or None, whether one was looked for, whether the temperature may as well be something else): one target explains
    most of the largest gradients, or what else does."""
    large = g.norm(dim=-1).topk(min(TEMPERATURE_SAMPLE, g.shape[0])).indices
    spread = torch.linspace(0, g.shape[0] - 1, min(TEMPERATURE_SAMPLE, g.shape[0]), device=g.device).long()
    some = torch.cat([large, spread]).unique()
    g, h, c = g[some], h[some], with_best(g[some], h[some], c[some], head, tau, RESIDUAL[precision])

    def left(head, tau):
        m, _ = head.moment(h, tau)
        return fit_candidates(g, h, m, c, head, RESIDUAL[precision])[2]

    residual = left(head, tau).nan_to_num(0.0, posinf=torch.inf)
    over = residual > WORTH[precision] * BAND[precision]
    if float(over.double().mean()) < TELLS[precision]:
        sample = halves(torch.arange(g.shape[0], device=g.device), g.norm(dim=-1), columns[some])
        return (None, False, False) if tau == 1.0 else instead(g, h, c, head, precision, residual, sample)
    sample = halves(over.nonzero().flatten(), g.norm(dim=-1)[over], columns[some][over])
    if sample is None:
        return None, False, False
    return look(g, h, c, head, tau, precision, residual, left, sample, known, forms), True, False


def with_best(g, h, candidates, head, tau, band):
    """The candidates, and where none of them explains a gradient, those two of the whole vocabulary that explain most: a target
    that was not thought of is no evidence of anything else in the loss."""
    m, _ = head.moment(h, tau)
    lost = (fit_candidates(g, h, m, candidates, head, band)[2] > band).nonzero().flatten()
    best = torch.full((g.shape[0], 2), -1, dtype=candidates.dtype, device=candidates.device)
    if lost.numel() > 0:
        best[lost] = head.best(g[lost], h[lost], m[lost]).to(best.dtype)
    return torch.cat([candidates, best], 1)


def fitted(g, h, candidates, head, tau, told, band, search):
    """What Found has of n positions: g (n, r) in the directions of the head's rows, h (n, d)."""
    m, lse = head.moment(h, tau)
    target, k, residual = fit_candidates(g, h, m, candidates, head, band)
    lost = (residual > band).nonzero().flatten()
    left = lost.new_zeros(0) if search is None else lost[search:]
    lost = lost[: lost.numel() - left.numel()]
    if lost.numel() > 0:
        best = head.best(g[lost], h[lost], m[lost])
        one, k_one, r_one = fit_candidates(g[lost], h[lost], m[lost], best, head, band)
        better = (r_one < 0.5 * residual[lost]) | r_one.isnan()
        pick = lost[better]
        target[pick], k[pick], residual[pick] = one[better], k_one[better], r_one[better]
    # Of those that are not looked for, nothing is known but where a candidate explains it.
    other = left[residual[left] > band]
    target[other], residual[other] = -1, torch.nan
    known = target >= 0
    logprob = torch.where(known, head.logit(target.clamp(min=0), h) / tau - lse, torch.nan)
    unsearched = torch.zeros_like(known)
    unsearched[other] = True
    return {
        "unsearched": unsearched,
        "targets": target,
        "weights": torch.where(known, tau * k, torch.nan),
        "residuals": torch.where(residual.isinf(), torch.nan, residual),
        "temperatures": torch.full_like(k, told),
        "logprobs": logprob,
    }


def fit(g, m, pull):
    """(n,) k and residual of g = k (m - pull), by least squares in float64."""
    g, u = g.double(), m.double() - pull.double()
    k = (g * u).sum(-1) / u.pow(2).sum(-1).clamp(min=1e-300)
    return k, (g - k[:, None] * u).norm(dim=-1) / g.norm(dim=-1)


def fit_candidates(g, h, m, candidates, head, band):
    """(n,) target, k and residual: the candidate that leaves least, the earlier one where two leave the same. Target -1, with
    infinity left, where there is no candidate; with NaN left where two explain all, and neither better than the other."""
    ks, residuals = [], []
    step = max(1, WORKING // (16 * g.shape[1]))
    for g, h, m, ids in zip(*(each.split(step) for each in (g, h, m, candidates.clamp(min=0)))):
        fits = [fit(g, m, head.pull(column, h)) for column in ids.unbind(1)]
        ks.append(torch.stack([k for k, _ in fits], 1))
        residuals.append(torch.stack([residual for _, residual in fits], 1))
    k, residual = torch.cat(ks), torch.cat(residuals)
    residual = torch.where((candidates >= 0) & residual.isfinite(), residual, torch.inf)
    least = residual.amin(1, keepdim=True)
    place = (residual <= least * (1 + 1e-3)).to(torch.int8).argmax(1, keepdim=True)
    target, k, residual_of = (each.gather(1, place).flatten() for each in (candidates, k, residual))
    second = torch.where(candidates == target[:, None], torch.inf, residual).amin(1)
    tied = (residual_of <= band) & (second < APART * residual_of)
    target = torch.where(tied | residual_of.isinf(), -1, target)
    return target, k, torch.where(tied, torch.nan, residual_of)


def hidden_temperature(g, h, candidates, head, band, guess=1.0):
    """The temperature to reckon with, and the one to tell: NaN unless a change of 1 % would be seen in the residuals of a few
    positions, those with the largest gradients."""
    some = g.norm(dim=-1).topk(min(TEMPERATURE_SAMPLE, g.shape[0])).indices
    g, h, candidates = g[some], h[some], candidates[some]
    floor = band * 0.02

    def left(tau):
        m, _ = head.moment(h, tau)
        _, _, residual = fit_candidates(g, h, m, candidates, head, band)
        value = residual.nanmedian()
        return float(value) if torch.isfinite(value) else float("inf")

    at_one = left(1.0)
    tau, least = 1.0, at_one
    if at_one > floor and guess != 1.0:
        tau, least = guess, left(guess)
    if least > floor:
        tau, least = lowest(left)
        if not (least < 0.25 * at_one and least <= band):
            tau, least = 1.0, at_one
        elif abs(tau - 1) < NEAR_ONE:
            tau, least = 1.0, at_one
    seen = least <= band and min(left(tau * (1 + TEMPERATURE_ERROR)), left(tau * (1 - TEMPERATURE_ERROR))) > max(
        3 * least, floor * 0.1
    )
    return tau, tau if seen else float("nan")


def lowest(left):
    return golden(left, LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE)
