"""The logits route where one target is not all: the forms of _forms.py and softcaps that nobody declared, by the kept entries.

What fits no form is not known: target -1, weight NaN, and the residual says by how much one target fails. What could not be
read, as a value was not kept or too small, is no evidence for any form: no form is fitted to it, and its residual is NaN
unless one target is seen to fail.

A form is fitted to one half of the positions that one target leaves open, and believed where it explains the other half.
"""

import math

import torch

from ._forms import BETTER, EXPLAINED, FORMS, SAMPLE, Shape, believed, consistent, golden, halves, same_sign, solve, terms_of
from ._recovery import BAND, IDENTITY, NEAR_ONE, Post
from ._several import explained

# Entries may miss a form by this share of what they are made of, by the coarsest dtype.
OFF = {"float64": 1e-4, "float32": 1e-3, "float16": 0.1, "bfloat16": 0.2}

# A form is believed for less.
OFF_FORM = {"float64": 1e-4, "float32": 1e-3, "float16": 2e-2, "bfloat16": 3e-2}

# Where every entry was compared, entries that are missed matter by their size only, but for the form that they hint at.
HINT = 0.5

# The sum of a gradient over its magnitudes: above it something moves all logits alike.
EXCESS = {"float64": 1e-5, "float32": 1e-4, "float16": 3e-2, "bfloat16": 5e-2}

# And so many times that beside a divergence from a teacher, where p and q nearly cancel.
BESIDE = 10

LOWEST_CAP, HIGHEST_CAP = 0.5, 500.0
LOWEST_TEMPERATURE, HIGHEST_TEMPERATURE = 0.1, 20.0

# A form leaves no more than so many times what a temperature leaves: nothing tells which of the two it is.
AS_WELL = 2.0

# Entries and positions on which a number is searched.
THIN_POSITIONS, THIN_ENTRIES = 8, 256

# Of a Jensen-Shannon divergence, what people write as the share of the teacher.
DIVERGENCES = (("forward",), ("reverse",), *(("jsd", share) for share in (0.5, 0.1, 0.9, 0.3, 0.7, 0.2, 0.8)))

USUAL_DIVERGENCES = DIVERGENCES[:3]

# What people write as the temperature of a teacher.
USUAL = (1.0, 2.0, 1.5, 3.0, 4.0, 5.0, 2.5, 10.0, 0.5, 0.7, 0.8, 0.9, 1.2, 8.0, 20.0)


def complete(found, spots, g, values, excess, precision, post, known, teachers, search=True):
    """Puts into `found` what one target does not explain, and what is not known: g (n, K) at the entries, `values` of one_target.
    `search`: whether it is worth the time to look for a form that is not `known`."""
    whole = spots.entries.numel() == spots.vocab
    residual = values["residuals"].nan_to_num(torch.inf, posinf=torch.inf)
    limit = believed(residual, values["logprobs"], precision, BAND[precision])
    open_ = (residual > limit) | (values["off"] > (HINT if whole else OFF[precision]))
    alike = excess.abs() > EXCESS[precision]
    # Beside its target, no entry is large enough to be read; what is left of one target adds up to 0 all the same.
    faint = values["none usable"] & ~alike
    # Beside a term that moves all logits alike, such a position may have no target at all.
    alone = sized_alone(spots, g, (alike | (not post.identity)) & open_, precision, post)
    found.put(alone.nonzero().flatten().cpu(), **without_target(spots, alone))
    open_ &= ~faint & ~alone
    residual = residual.masked_fill(alone, 0.0)
    values = dict(values, off=values["off"].masked_fill(alone, 0.0), unkept=values["unkept"] & ~alone)
    heated = values["temperatures"].isfinite() & (values["temperatures"] != 1) & ~faint & ~alone

    def parts_of(which):
        """Two halves, or None, and a few of all."""
        places = which.nonzero().flatten()
        sizes = g[places].norm(dim=1)
        few = places[sizes.topk(min(SAMPLE, places.numel())).indices]
        sample = halves(places, sizes, spots.columns[places])
        parts = [(spots.some(half), g[half], at(values, half)) for half in [few, *(sample or [])]]
        return parts[1:] or None, parts[:1]

    none = torch.zeros_like(open_)
    shape, instead_of, doubtful = None, none, none
    if bool(open_.any()) and parts_of(open_)[0]:
        shape = chosen(parts_of(open_)[0], precision, post, known, teachers, search)
        found.looked = True
    if shape is None and bool(heated.any()):
        shape, as_well = instead(parts_of(heated), precision, post)
        instead_of, doubtful = (none, heated) if as_well else (none if shape is None else heated, none)
    fine, unkept = none, values["unkept"]
    if shape is not None:
        rich = explained(spots, g, shape, post)
        fine = (ratio(rich, precision) <= 1) & ~rich["unkept"] & ~faint
        found.put(fine.nonzero().flatten().cpu(), **at(rich, fine))
        found.shape = shape
        found.terms = terms_of(rich, fine, shape, post)
    unknown = ~fine & ~faint & (instead_of | (residual > limit) | ((values["off"] > OFF[precision]) & (not whole)))
    given_up(found, unknown, (torch.maximum(residual, values["off"]) if not whole else residual).nan_to_num(1.0))
    # By the form, what they are trained toward may be what was not kept.
    lost = unknown & rich["unkept"] if shape is not None else none
    nothing_to_read(found, faint | lost)
    weightless(found, doubtful & ~unknown)
    found.left("faint", faint)
    found.left("temperature", doubtful & ~unknown)
    found.left("value", lost | (unkept & ~unknown & ~doubtful & ~fine & ~faint))
    if shape is None or (shape.teacher is not None and shape.post.identity):
        large = alike if shape is None else excess.abs() > BESIDE * EXCESS[precision]
        moved_alike(found, spots, excess, large & ~unknown, post)


def nothing_to_read(found, which):
    """Neither known nor said to be anything."""
    given_up(found, which, torch.full(which.shape, torch.nan, dtype=torch.float64))


def weightless(found, which):
    """One target it is, and no more is known of it."""
    count = int(which.sum())
    nothing = torch.full((count,), torch.nan, dtype=torch.float64)
    found.put(which.nonzero().flatten().cpu(), weights=nothing, temperatures=nothing, logprobs=nothing)


def given_up(found, unknown, residual):
    where = unknown.nonzero().flatten().cpu()
    nothing = torch.full((where.numel(),), float("nan"), dtype=torch.float64)
    found.put(
        where,
        targets=torch.full((where.numel(),), -1),
        weights=nothing,
        residuals=residual[unknown].clamp(max=1.0),
        temperatures=nothing,
        logprobs=nothing,
    )


def at(values, index):
    return {name: value[index] for name, value in values.items()}


def ratio(values, precision):
    """(n,) by how much positions miss a form: 1 is what rounding may do."""
    residual = values["residuals"].nan_to_num(torch.inf, posinf=torch.inf)
    limit = believed(residual, values["logprobs"], precision, BAND[precision])
    return torch.maximum(residual / limit, values["off"] / OFF_FORM[precision]).nan_to_num(torch.inf, posinf=torch.inf)


def sized_alone(spots, g, which, precision, post):
    """(n,) those of `which` whose gradient is that of a term on the size of the logits, c p, and of nothing else."""
    out = torch.zeros_like(which)
    at_ = which.nonzero().flatten()
    if at_.numel() == 0:
        return out
    if not post.identity:
        # Before a softcap it is no multiple of p, and whether a target is left out is seen at its likely places only.
        told = explained(spots.some(at_), g[at_], Shape(("normalizer",), 1.0, IDENTITY), post)
        out[at_] = (told["weights"] == 0) & ~told["unkept"] & (ratio(told, precision) <= 1)
        return out
    z = spots.z[at_]
    p = (z - z.amax(1, keepdim=True)).exp()
    _, left, size = solve([p], g[at_], torch.ones_like(p, dtype=torch.bool))
    norm = g[at_].norm(dim=1).clamp(min=1e-300)
    off = (left / size.clamp(min=1e-300)).clamp(-2, 2).pow(2).mean(1).sqrt()
    out[at_] = (left.norm(dim=1) / norm <= BAND[precision]) & (off <= OFF[precision])
    return out


def without_target(spots, which):
    """What Found has of positions that are not trained toward anything, and not untouched either."""
    count = int(which.sum())
    nothing = torch.full((count,), torch.nan, dtype=torch.float64)
    zero = torch.zeros(count, dtype=torch.float64)
    following = spots.candidates[which][:, 0].clamp(min=0)
    return dict(targets=following, weights=zero, residuals=zero, temperatures=nothing, logprobs=nothing)


def moved_alike(found, spots, excess, alike, post):
    """A z-loss: c lse^2 has the gradient 2 c lse p, which adds up to more than 0, and leaves target and weight as they are."""
    if not post.identity or int(alike.sum()) < EXPLAINED * alike.numel() or spots.columns[alike].unique().numel() < 2:
        return
    # lse is at least the mean logit and the logarithm of the vocabulary, so that above 0 its sign is known.
    above = (spots.z[alike].mean(1) + math.log(spots.vocab) > 0) & (excess[alike].abs() > 0)
    signs = excess[alike][above]
    told = {"rewarded": bool(signs.median() < 0)} if same_sign(signs) else {}
    # Beside a divergence, which is a difference of nearly equal numbers, rounding moves logits alike as well: each way at times.
    if told or not found.terms:
        found.terms = [*found.terms, {"kind": "normalizer", **told}]


def instead(parts, precision, post):
    """What explains these positions of one target at a temperature other than 1 far better: a form at temperature 1, or None; and
    whether one does as well, so that neither the temperature nor a weight can be told. Of a nearly even distribution label
    smoothing, an entropy term and a temperature are nearly one and the same."""
    halves_of, all_of = parts
    parts = halves_of or all_of

    def left(values):
        return float((values["residuals"] + values["off"]).nanmedian())

    found, as_well = [], False
    for place, shape in enumerate(Shape(form, 1.0, post) for form in FORMS):
        told = [explained(spots, g, shape, post) for spots, g, _ in parts]
        fits = all(float((ratio(values, precision) <= 1).double().mean()) >= EXPLAINED for values in told)
        if not fits or not consistent({name: torch.cat([values[name] for values in told]) for name in told[0]}, shape):
            continue
        share = max(left(values) / max(left(base), 1e-300) for values, (_, _, base) in zip(told, parts))
        as_well = as_well or share <= AS_WELL
        if share <= BETTER:
            found.append((share, place, shape))
    if not found or halves_of is None:
        return None, as_well
    return min(found, key=lambda each: each[:2])[2], False


def chosen(parts, precision, post, known, teachers, search):
    """The Shape that explains most of the positions of the first part, with which its numbers were found, and of the others: of
    each its Spots, its gradients at the entries, and what one target makes of it. Or None."""

    def score(shape, of=slice(0, 1)):
        """Above 1: not explained."""
        worst, all_values = 0.0, []
        for spots, g, base in parts[of]:
            values = explained(spots, g, shape, post)
            ratios = ratio(values, precision).masked_fill(values["unkept"], torch.inf)
            worst = max(worst, float(ratios.kthvalue(max(1, math.ceil(EXPLAINED * ratios.numel()))).values))
            better = values["residuals"] <= BETTER * base["residuals"].nan_to_num(1.0, posinf=1.0)
            if float((better | (base["off"] > HINT)).double().mean()) < EXPLAINED:
                return max(worst, 1.01)
            all_values.append(values)
        joined = {name: torch.cat([values[name] for values in all_values]) for name in all_values[0]}
        return worst if consistent(joined, shape) else max(worst, 1.01)

    def holds(shape):
        return score(shape, slice(None)) <= 1

    if known is not None and not known.plain and known.teacher is None and holds(known):
        return known
    if not search:
        return None
    (spots, g, base), *_ = parts
    for shapes in attempts(spots, g, precision, post, known, teachers, base):
        scored = [(score(shape), place, shape) for place, shape in enumerate(shapes)]
        if scored:
            best = min(scored, key=lambda each: each[:2])
            if best[0] <= 1 and holds(best[2]):
                return sized(best[2], holds)
    return None


def sized(shape, holds):
    """With a softcap, a term on the size of the logits hides: it leaves target and weight as they are."""
    if shape.parts or shape.teacher is not None or shape.post.identity:
        return shape
    both = Shape(("normalizer",), 1.0, shape.post)
    return both if holds(both) else shape


def attempts(spots, g, precision, post, known, teachers, base):
    """Lists of Shapes to compare, each made only when those before it explain nothing. Numbers are searched on few entries."""
    few = torch.randperm(spots.entries.numel(), generator=torch.Generator().manual_seed(1))[:THIN_ENTRIES].sort().values
    few = few.to(g.device)
    thin, thin_g = spots.some(slice(0, THIN_POSITIONS)).thinner(few), g[:THIN_POSITIONS, few]

    def left(shape):
        values = explained(thin, thin_g, shape, post)
        value = (values["residuals"] + values["off"]).nanmedian()
        return float(value) if torch.isfinite(value) else float("inf")

    def taught(kinds):
        for post_and_kind in kinds:
            of = ((), None, *post_and_kind)
            usual = sorted((left(tempered_as(of, tau)), tau) for tau in USUAL)[:2]
            yield [tempered_as(of, tau) for _, tau in usual]
            about = usual[0][1]
            if of[4] == "forward":
                yield [tempered_as(of, tempered(lambda tau, of=of: left(tempered_as(of, tau)), about / 2, about * 2, 15))]

    taus = [1.0] + ([known.tau] if known is not None and known.tau not in (None, 1.0) else [])
    plain = [Shape(parts, tau, post) for tau in taus for parts in FORMS]
    if not post.identity:
        yield plain
    else:
        cap, least = searched(lambda cap: left(Shape((), None, Post(1.0, cap))), LOWEST_CAP, HIGHEST_CAP)
        near = min(left(Shape((), None, Post(1.0, cap * by))) for by in (1.01, 1 / 1.01))
        yield plain + ([Shape((), None, Post(1.0, cap))] if near > 3 * max(least, 1e-7) else [])
    yield from taught((post, teacher, *kind) for kind in DIVERGENCES for teacher in teachers)
    # One target at a temperature of its own is what an entropy term looks like at first.
    told = base["temperatures"][base["temperatures"].isfinite()]
    about = float(told.median()) if told.numel() > 0 else 1.0
    yield [
        Shape(parts, tempered(lambda tau, parts=parts: left(Shape(parts, tau, post)), about / 1.4, about * 1.4, 15), post)
        for parts in FORMS
    ]
    if post.identity:
        shapes = []
        for parts in (*FORMS[:2], ("normalizer",)):
            cap, _ = searched(lambda cap, parts=parts: left(Shape(parts, 1.0, Post(1.0, cap))), LOWEST_CAP, HIGHEST_CAP)
            shapes.append(Shape(parts, 1.0, Post(1.0, cap)))
        yield shapes
    # No right loss has this: the teacher's word on another column.
    yield from taught((post, each.later(by), *kind) for each in teachers for by in (1, -1) for kind in USUAL_DIVERGENCES)


def tempered_as(of, tau):
    return Shape(of[0], tau, *of[2:])


def tempered(left, low=LOWEST_TEMPERATURE, high=HIGHEST_TEMPERATURE, points=13):
    tau, _ = searched(left, low, high, points)
    return 1.0 if abs(tau - 1) < NEAR_ONE else tau


def searched(left, low, high, points=13):
    """(x, left(x)) where it is least, as the number that somebody would write if that explains as much."""
    value, least = golden(left, low, high, points)
    short = float("%.3g" % value)
    return (short, least) if left(short) <= 2 * least + 1e-6 else (value, least)
