"""The hidden route of _recovery.py: dL/dh = k (W^T p - W_y). The softmax is made again, by blocks.

In the cheap mode the right side is compared in a few random directions only. The equation holds there as it does in all, so
that targets and weights are as exact; the residual is an estimate of what it is in all directions, good to a tenth or two.
"""

import math

import torch

from ._head import SKETCH, Head
from ._recovery import (
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

# A position that leaves more than this, and was not looked for in the whole vocabulary, was trained toward another token.
NONE_FITS = 0.5


def from_hidden(gradient, hidden, weight, bias, candidates, precision, post=IDENTITY, check=None, search=None, guess=1.0):
    """gradient and hidden (N, d); weight (V, d); candidates (N, C), -1 for none. check(at), in the cheap mode, picks, of the
    trained positions `at`, the indexes to compare in all directions; `search` bounds how many are looked for in the whole
    vocabulary. `guess`: the temperature of an earlier pass, which is tried first."""
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
    if check is None or 2 * SKETCH >= head.width:
        found.put(slice(None), **fitted(g, h, c, head, tau, told, RESIDUAL[precision], search))
        return found
    sketch, directions = head.sketched()
    found.put(slice(None), **fitted(g @ directions, h, c, sketch, tau, told, RESIDUAL[precision], search))
    some = check(at)
    found.put(some.cpu(), **fitted(g[some], h[some], c[some], head, tau, told, RESIDUAL[precision], search))
    return found


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
    other = left[residual[left] > NONE_FITS]
    target[other], residual[other] = -1, torch.nan
    known = target >= 0
    logprob = torch.where(known, head.logit(target.clamp(min=0), h) / tau - lse, torch.nan)
    return {
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
    """Golden section over the logarithm of the temperature, about the best point of a coarse grid."""
    low, high, points = math.log(LOWEST_TEMPERATURE), math.log(HIGHEST_TEMPERATURE), 13
    grid = [low + (high - low) * index / (points - 1) for index in range(points)]
    values = [left(math.exp(x)) for x in grid]
    best = min(range(points), key=values.__getitem__)
    a, b = grid[max(0, best - 1)], grid[min(points - 1, best + 1)]
    ratio = (math.sqrt(5) - 1) / 2
    c, d = b - ratio * (b - a), a + ratio * (b - a)
    at_c, at_d = left(math.exp(c)), left(math.exp(d))
    while b - a > 1e-5:
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
