"""One target a position, at one temperature, by the entries of the logits that were kept: what it explains of their gradient."""

import torch

from ._recovery import NEAR_ONE, TEMPERATURE_ERROR, smallest


def one_target(z, g_entries, target, z_target, g_target, entries, post, vocab, dtype):
    """What Found has of n positions, and for each `off`: by what share of themselves entries miss the form, and `unkept`: the
    target's own logit is not known. The other entries tell as well whether it is one target; its weight alone is NaN then."""
    if not post.identity:
        g_entries = g_entries / post.slope_at(z)
        g_target = g_target / post.slope_at(z_target)
        z, z_target = post.value(z), post.value(z_target)
    others = entries[None, :] != target[:, None]
    large = g_entries.abs() > smallest(dtype)
    usable = others & (g_entries * -g_target[:, None] > 0) & large
    tau, told = temperatures(z, g_entries, usable)
    unkept = z_target.isnan()
    shift = torch.maximum(torch.where(usable, z, -torch.inf).amax(1), torch.where(unkept, -torch.inf, z_target)) / tau
    shape = torch.where(usable, torch.exp(z / tau[:, None] - shift[:, None]), 0.0)
    per = torch.where(usable, g_entries, 0.0).sum(1) / shape.sum(1)
    own = per * torch.exp(z_target / tau - shift)
    k = own - g_target
    expected = per[:, None] * torch.exp(z / tau[:, None] - shift[:, None])
    apart = torch.where(others, g_entries - expected, 0.0)
    share = (vocab - 1) / others.sum(1).clamp(min=1)
    norm = (g_target**2 + share * torch.where(others, g_entries, 0.0).pow(2).sum(1)).sqrt()
    residual = (share * apart.pow(2).sum(1)).sqrt() / norm
    measured = others & large
    ratio = torch.where(measured, apart / g_entries.abs().clamp(min=1e-300), 0.0)
    off = (ratio.clamp(-2, 2).pow(2).sum(1) / measured.sum(1).clamp(min=1)).sqrt()
    return {
        "targets": target,
        "none usable": ~usable.any(1),
        "weights": tau * k,
        "residuals": residual,
        "temperatures": told,
        "logprobs": torch.log(own / k),
        "off": off,
        "unkept": unkept,
    }


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
