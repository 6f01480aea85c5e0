"""What a Shape (_forms.py) makes of positions: the columns that their gradients are a sum of, fitted, and what is left at the target."""

import math

import torch

from ._forms import solve
from ._recovery import TAUGHT, smallest
from ._single import one_target

# Entries and positions that are fitted at a time.
AT_ONCE = 2**21

# A spike this many times as small as the gradient is none, by the coarsest dtype.
NO_SPIKE = {"float64": 1e-6, "float32": 1e-4, "float16": 2e-2, "bfloat16": 4e-2}


class Teacher:
    """What a model that is not trained said of the same positions: z (N, K) at the sorted ids `entries`, and at `candidates`;
    `whole`.value(at, ids), where there is one, has all of it of a few positions; lse (N,), where it is known, of all logits."""

    def __init__(self, model, entries, z, candidates, z_candidates, whole=None, lse=None, width=1, columns=0):
        self.model, self.entries, self.z = model, entries, z
        self.candidates, self.z_candidates = candidates, z_candidates
        self.whole, self.lse = whole, lse
        # Columns of a row, and how many of them later than its own each position is: no right loss has any but 0.
        self.width, self.columns = width, columns

    def later(self, columns):
        """What it said so many columns later; past the end of a row, at its beginning."""
        at = torch.arange(self.z.shape[0], device=self.z.device).reshape(-1, self.width).roll(-columns, 1).flatten()
        whole = None if self.whole is None else self.whole.some(at)
        lse = None if self.lse is None else self.lse[at]
        kept = (self.z[at], self.candidates[at], self.z_candidates[at])
        return Teacher(self.model, self.entries, *kept, whole, lse, self.width, columns)

    def at(self, rows, ids):
        """(n, H) the logit of ids (n, H) at positions `rows` (n,), NaN where it was not kept."""
        out = torch.full(ids.shape, float("nan"), dtype=torch.float64, device=ids.device)
        place = torch.searchsorted(self.entries, ids).clamp(max=self.entries.numel() - 1)
        kept = self.entries[place] == ids
        out = torch.where(kept, self.z[rows].double().gather(1, place), out)
        for column in range(self.candidates.shape[1]):
            same = (self.candidates[rows, column, None] == ids) & out.isnan()
            out = torch.where(same, self.z_candidates[rows, column, None].double(), out)
        if self.whole is not None:
            rest = torch.stack([self.whole.value(rows, column) for column in ids.unbind(1)], 1)
            out = torch.where(out.isnan(), rest, out)
        return out

    def lse_at(self, rows, tau, vocab):
        """(n,) the logarithm of the sum of exp(z / tau) over the vocabulary, at these positions; NaN where it is not known."""
        if self.entries.numel() == vocab:
            return torch.logsumexp(self.z[rows].double() / tau, 1)
        return (self.lse[rows] if self.lse is not None and tau == 1.0 else torch.full(rows.shape, torch.nan, device=rows.device)).double()


def explained(spots, g_entries, shape, post):
    """What Found has of these positions by this shape, and `off`, and of each part its coefficients."""
    post = shape.post if not shape.post.identity else post
    if not shape.parts and shape.teacher is None:
        ids = spots.targets(g_entries)
        z_target, g_target = spots.value_of(ids), spots.gradient[spots.at, ids].double()
        return one_target(spots.z, g_entries, ids, z_target, g_target, spots.entries, post, spots.vocab, spots.gradient.dtype)
    step = max(1, AT_ONCE // max(1, g_entries.shape[1]))
    parts = [
        several(spots.some(torch.arange(begin, min(begin + step, g_entries.shape[0]), device=g_entries.device)), part, shape, post)
        for begin, part in zip(range(0, g_entries.shape[0], step), g_entries.split(step))
    ]
    return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}


def several(spots, g, shape, post):
    dtype, vocab = spots.gradient.dtype, spots.vocab
    n, count = g.shape
    whole = count == vocab
    ids, z_ids, g_ids = spots.hypotheses()
    valid = (ids >= 0) & z_ids.isfinite()
    entries = spots.entries[None].expand(n, -1)
    # An id that is an entry, or stands twice among the hypotheses, is one point.
    again = torch.isin(ids, spots.entries) | ((ids[:, :, None] == ids[:, None, :]).tril(-1).any(2))
    all_ids = torch.cat([entries, ids], 1)
    all_z = torch.cat([spots.z, torch.where(valid, z_ids, 0.0)], 1)
    all_g = torch.cat([g, g_ids], 1)
    if not post.identity:
        slope = post.slope_at(all_z)
        all_g, all_z = all_g / slope, post.value(all_z)
    large = (all_g.abs() > smallest(dtype)) if not shape.parts else torch.ones_like(all_g, dtype=torch.bool)
    points = large & torch.cat([torch.ones_like(entries, dtype=torch.bool), valid & ~again], 1)
    tau = shape.tau
    e, x, total = softmax_of(all_z, tau, spots.lse_at(tau, post))
    columns = [e]
    if "uniform" in shape.parts:
        columns.append(torch.ones_like(e))
    if "entropy" in shape.parts:
        columns.append(e * x)
    if shape.teacher is not None:
        zt = shape.teacher.at(spots.at, all_ids.clamp(min=0))
        points, valid = points & zt.isfinite(), valid & zt[:, count:].isfinite()
        q, xt, total_q = softmax_of(zt.nan_to_num(-1e30), tau, shape.teacher.lse_at(spots.at, tau, vocab))
        column, times = toward(shape, (e, x, total), (q, xt, total_q))
        # Where it is not known of a position, nothing is.
        points, valid = points & column.isfinite(), valid & column[:, count:].isfinite()
        column = column.nan_to_num(0.0)
        columns.append(column)
        if tau != 1.0:
            plain = all_z - all_z.amax(1, keepdim=True)
            columns.insert(1, plain.exp())
    # First without any place where a target may be, then with all but the one that stands out.
    hypothesis = (all_ids[:, :, None] == ids[:, None, :]).any(2)
    first = points & ~hypothesis
    scant = first.sum(1, keepdim=True) < 2 * len(columns)
    coefficients, left, _ = solve(columns, all_g, torch.where(scant, points, first))
    missed = torch.where(points[:, count:] | (valid & again), left[:, count:].abs(), -1.0)
    place = missed.argmax(1, keepdim=True)
    for _ in range(2):
        target = ids.gather(1, place)
        use = points & (all_ids != target)
        coefficients, left, size = solve(columns, all_g, use)
        missed = torch.where(valid, left[:, count:].abs(), -1.0)
        place = missed.argmax(1, keepdim=True)
    spike = -left[:, count:].gather(1, torch.where(ids == target, 1, 0).argmax(1, keepdim=True))[:, 0]
    others = use[:, :count]
    share = (vocab - 1) / others.sum(1).clamp(min=1)
    everything = torch.where(others, all_g[:, :count], 0.0).pow(2).sum(1) * share + spike**2
    apart = torch.where(others, left[:, :count], 0.0)
    residual = (share * apart.pow(2).sum(1)).sqrt() / everything.sqrt().clamp(min=1e-300)
    residual = torch.where(others.any(1), residual, torch.inf)
    off = (torch.where(use, left / size.clamp(min=1e-300), 0.0).clamp(-2, 2).pow(2).sum(1) / use.sum(1).clamp(min=1)).sqrt()
    # Of a position without any target of its own, what is left at the likeliest place is rounding.
    noise = 4 * torch.where(use, left.abs(), 0.0).amax(1) + NO_SPIKE[str(dtype)[6:]] * size.amax(1)
    if "entropy" in shape.parts:
        # Where the model is sure, p (log p + H) is a small difference at the likeliest token, and is foretold by the others.
        distance = torch.where(use, x.abs(), 0.0).sum(1) / use.sum(1).clamp(min=1)
        chance = e[:, count:].gather(1, torch.where(ids == target, 1, 0).argmax(1, keepdim=True))[:, 0]
        noise = noise + NO_SPIKE[str(dtype)[6:]] * coefficients[:, -1].abs() * distance * chance
    taught, alone = torch.full_like(spike, torch.nan), torch.zeros_like(spike, dtype=torch.bool)
    if shape.teacher is not None:
        bare_of = by_teacher_alone(e, column, all_g, points, NO_SPIKE[str(dtype)[6:]])
        alone, pull = bare_of[0], torch.where(bare_of[0], bare_of[1], coefficients[:, -1])
        residual, off = torch.where(alone, bare_of[2], residual), torch.where(alone, bare_of[2], off)
        taught = pull * times / tau
    nothing = alone | (spike.abs() <= noise) | (spike.abs() <= NO_SPIKE[str(dtype)[6:]] * taught.abs())
    # Nor is any seen where it may be at an id whose logits were not kept.
    unkept = nothing & ((ids >= 0) & ~valid).any(1)
    own = e.gather(1, count + torch.where(ids == target, 1, 0).argmax(1, keepdim=True))[:, 0]
    weight, spread = spike, torch.zeros_like(nothing)
    out = {}
    if "uniform" in shape.parts:
        uniform = -coefficients[:, 1] * vocab
        weight = weight + uniform
        out["uniform"] = torch.where(nothing, torch.nan, uniform / weight)
        spread = nothing & (uniform.abs() > noise)
        weight = torch.where(spread, uniform, weight)
        nothing = nothing & ~spread
    if "normalizer" in shape.parts:
        beside = coefficients[:, 0] * total - spike
        # Without a target it is all that there is, were its size not known.
        out["normalizer sign"] = torch.where(nothing, coefficients[:, 0], torch.where(beside.abs() > noise, beside, torch.nan))
        # As _whole.moved_alike has it, where the sum is not known.
        least = all_z[:, :count].mean(1) + math.log(vocab)
        out["above"] = ((total.log() + all_z.amax(1)).nan_to_num(-torch.inf).maximum(least) > 0).double()
    if "entropy" in shape.parts:
        factor = coefficients[:, -1] * tau
        out["entropy"] = factor * total
        out["entropy sign"] = factor
    if shape.teacher is not None:
        out["teacher"] = taught
        out["teacher sign"] = pull * (-1 if shape.toward == "forward" else 1)
    scale = tau if shape.teacher is None else 1.0
    logprob = torch.log(own / total) if whole else torch.full_like(own, torch.nan)
    if shape.teacher is not None and tau != 1.0 and whole:
        logprob = (bare_own(all_z, ids, target, count))
    # Nor is there a target where every token is pushed up alike, or towards a teacher's distribution alone.
    alone = nothing & (shape.teacher is not None)
    following = spots.candidates[:, 0].clamp(min=0)
    out.update(
        targets=torch.where(alone, TAUGHT, torch.where(spread, -1, torch.where(nothing, following, target[:, 0]))),
        weights=torch.where(alone, taught, torch.where(nothing, 0.0, scale * weight)),
        residuals=residual,
        alone=alone,
        temperatures=torch.full_like(spike, scale),
        logprobs=torch.where(nothing | spread, torch.nan, logprob),
        off=off,
        unkept=unkept,
    )
    return out


def by_teacher_alone(e, column, g, points, least):
    """(n,) each: whether a divergence from the teacher is all that there is, by every entry and without a place left out for a target;
    its coefficient; and what is left, as a share of what the gradient is made of: p and q nearly cancel where they agree."""
    coefficients, left, size = solve([e, column], g, points)
    left, size = torch.where(points, left.abs(), 0.0), torch.where(points, size, 0.0)
    share = left.norm(dim=1) / size.norm(dim=1).clamp(min=1e-300)
    return (left.amax(1) <= least * size.amax(1)) & points.any(1), coefficients[:, 1], share


def softmax_of(z, tau, lse):
    """(exp(x), x, sum of exp(x) over the vocabulary), with x the logits z (n, K) over tau, less their largest. lse (n,): the
    logarithm of the sum of exp(z / tau) over the vocabulary, NaN where it is not known."""
    x = z / tau
    most = x.amax(1, keepdim=True)
    x = x - most
    return x.exp(), x, (lse - most[:, 0]).exp()


def toward(shape, student, teacher):
    """(column (n, K), what its coefficient is to be multiplied by (n,)) of the divergence from a teacher: b t (column times one over
    the other) is the gradient of b t^2 times it.

        forward    KL(q || p)                                    -q
        reverse    KL(p || q)                                    p (log p - log q)
        jsd        s KL(q || m) + (1 - s) KL(p || m)             (1 - s) p (log p - log m),  m = s q + (1 - s) p

    each but for a multiple of p, which is a column of its own."""
    (e, x, total), (q, xt, total_q) = student, teacher
    if shape.toward == "forward":
        return q, -total_q
    if shape.toward == "reverse":
        return e * (x - xt), total
    s = shape.mixed
    logp, logq = x - total.log()[:, None], xt - total_q.log()[:, None]
    return e * (logp - torch.logaddexp(logp + math.log1p(-s), logq + math.log(s))), total / (1 - s)


def bare_own(z, ids, target, count):
    place = count + torch.where(ids == target, 1, 0).argmax(1, keepdim=True)
    return (z.gather(1, place)[:, 0] - torch.logsumexp(z[:, :count], 1)).clamp(max=0)
