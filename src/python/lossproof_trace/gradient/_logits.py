"""The logits route of _recovery.py: dL/dz = k (p - e_y). Exact, and no more than a look at the gradient."""

import torch

from ._recovery import IDENTITY, NEAR_ONE, TEMPERATURE_ERROR, WORKING, Found, smallest, wide

# Entries of the vocabulary, besides the target, that the logits route compares: enough for a slope and a residual.
FEW_ENTRIES = 64


def entries_of(vocab, most):
    """(K,) sorted ids of the vocabulary, all of it where it is small. Never the script's random numbers."""
    if vocab <= most:
        return torch.arange(vocab)
    generator = torch.Generator().manual_seed(vocab)
    return torch.randperm(vocab, generator=generator)[:most].sort().values


def from_logits(gradient, entries, z_entries, candidates, z_candidates, precision, post=IDENTITY, z_of=None):
    """gradient (N, V) of the logits before `post`; z_entries (N, K) and z_candidates (N, C) their values at `entries` (K,)
    and at `candidates` (N, C), -1 for none. z_of(at, ids), where there is one, computes a value that was not kept."""
    count, vocab = gradient.shape
    device = gradient.device
    entries = entries.to(device)
    step = max(1, WORKING // (4 * vocab))
    parts = [[], [], [], []]
    not_finite = 0
    for begin in range(0, count, step):
        g = gradient[begin : begin + step]
        total = torch.linalg.vector_norm(g, ord=1, dim=-1, dtype=wide(g.dtype))
        finite = torch.isfinite(total)
        not_finite += int((~finite).sum())
        rows = (finite & (total > 0)).nonzero().flatten()
        if rows.numel() == 0:
            continue
        g_entries = g.index_select(1, entries)[rows].double()
        target = odd_one(g, rows, total[rows].double(), candidates[begin : begin + step][rows], g_entries, post)
        g_target = g[rows, target].double()
        for part, value in zip(parts, (rows + begin, target, g_target, g_entries)):
            part.append(value)
    if not parts[0]:
        return Found(torch.zeros(0, dtype=torch.int64), not_finite)
    at, target, g_target, g_entries = (torch.cat(part) for part in parts)
    found = Found(at.cpu(), not_finite)
    z_target = value_of(target, candidates[at], z_candidates[at], entries, z_entries[at])
    lost = z_target.isnan().nonzero().flatten()
    if lost.numel() > 0 and z_of is not None:
        z_target[lost] = z_of(at[lost], target[lost]).double()
    z = z_entries[at].double()
    if not post.identity:
        g_entries = g_entries / post.slope_at(z)
        g_target = g_target / post.slope_at(z_target)
        z, z_target = post.value(z), post.value(z_target)
    others = entries[None, :] != target[:, None]
    usable = others & (g_entries * -g_target[:, None] > 0) & (g_entries.abs() > smallest(gradient.dtype))
    tau, told = temperatures(z, g_entries, usable)
    shift = torch.maximum(torch.where(usable, z, -torch.inf).amax(1), z_target) / tau
    shape = torch.where(usable, torch.exp(z / tau[:, None] - shift[:, None]), 0.0)
    per = torch.where(usable, g_entries, 0.0).sum(1) / shape.sum(1)
    own = per * torch.exp(z_target / tau - shift)
    k = own - g_target
    apart = torch.where(others, g_entries - per[:, None] * torch.exp(z / tau[:, None] - shift[:, None]), 0.0)
    share = (vocab - 1) / others.sum(1).clamp(min=1)
    norm = (g_target**2 + share * torch.where(others, g_entries, 0.0).pow(2).sum(1)).sqrt()
    residual = (share * apart.pow(2).sum(1)).sqrt() / norm
    found.put(
        slice(None), targets=target, weights=tau * k, residuals=residual, temperatures=told, logprobs=torch.log(own / k)
    )
    return found


def odd_one(g, rows, total, candidates, g_entries, post):
    """(n,) the entry whose sign differs from all others. It alone weighs as much as all of them together, so that one
    look at the sum of magnitudes tells whether a candidate is it; only where none is, all entries are compared."""
    half = 0.5 * total[:, None]
    near = 1e-3 if g.dtype in (torch.float32, torch.float64) else 2e-2
    rest = torch.sign(torch.sign(g_entries).sum(1, keepdim=True))
    known = candidates >= 0
    g_candidates = torch.where(known, g[rows[:, None], candidates.clamp(min=0)].double(), 0.0)
    fits = known & (g_candidates.abs() >= half * (1 - near)) & (torch.sign(g_candidates) != rest)
    if not post.identity:
        fits = torch.zeros_like(fits)
    hit = fits.any(1)
    target = candidates.gather(1, fits.to(torch.int8).argmax(1, keepdim=True)).flatten().clone()
    missed = (~hit).nonzero().flatten()
    if missed.numel() > 0:
        lost = g[rows[missed]]
        low, high = lost.argmin(1), lost.argmax(1)
        sign = rest[missed, 0]
        heavier = lost.gather(1, low[:, None]).abs() >= lost.gather(1, high[:, None]).abs()
        target[missed] = torch.where(sign > 0, low, torch.where(sign < 0, high, torch.where(heavier[:, 0], low, high)))
    return target


def value_of(target, candidates, z_candidates, entries, z_entries):
    """(n,) the logit of the target where it was kept, else NaN."""
    same = candidates == target[:, None]
    value = torch.where(
        same.any(1),
        z_candidates.double().gather(1, same.to(torch.int8).argmax(1, keepdim=True)).flatten(),
        torch.full_like(z_candidates[:, 0], float("nan"), dtype=torch.float64),
    )
    place = torch.searchsorted(entries, target).clamp(max=entries.numel() - 1)
    kept = entries[place] == target
    return torch.where(kept & value.isnan(), z_entries.double().gather(1, place[:, None]).flatten(), value)


def temperatures(z, g, usable):
    """(n,) temperature to reckon with, and the one to tell, NaN where not determined: log|g| rises with z by 1 / T. One
    temperature for all positions wherever that fits, which is what training scripts have."""
    n = usable.sum(1).clamp(min=1).double()
    y = torch.where(usable, g.abs().clamp(min=1e-300).log(), 0.0)
    x = torch.where(usable, z, 0.0)
    dx = torch.where(usable, x - (x.sum(1) / n)[:, None], 0.0)
    dy = torch.where(usable, y - (y.sum(1) / n)[:, None], 0.0)
    sxx = dx.pow(2).sum(1)
    slope = (dx * dy).sum(1) / sxx
    noise = (dy - slope[:, None] * dx).pow(2).sum(1) / (n - 2).clamp(min=1)
    # A straight line through numbers that happen to agree is not more exact than the numbers are.
    error = (noise.clamp(min=1e-14) / sxx).sqrt()
    fitted = (usable.sum(1) >= 4) & torch.isfinite(slope) & torch.isfinite(error) & (slope > 0)
    tau = torch.ones_like(slope)
    told = torch.full_like(slope, float("nan"))
    if not bool(fitted.any()):
        return tau, told
    w = torch.where(fitted, error, torch.inf).pow(-2)
    b = torch.where(fitted, slope, 0.0)
    pooled = (w * b).sum() / w.sum()
    spread = (w * (b - pooled).pow(2)).sum() / fitted.sum()
    if float(spread) < 16:
        pooled_error = float((spread.clamp(min=1) / w.sum()).sqrt() / pooled)
        if pooled_error < TEMPERATURE_ERROR:
            value = 1 / float(pooled)
            if abs(value - 1) < max(4 * pooled_error, NEAR_ONE):
                value = 1.0
            return torch.full_like(tau, value), torch.full_like(tau, value)
        return tau, told
    sure = fitted & (error / slope.abs() < TEMPERATURE_ERROR)
    each = torch.where(sure, 1 / slope, 1.0)
    each = torch.where((each - 1).abs() < NEAR_ONE, 1.0, each)
    return each, torch.where(sure, each, told)
