"""The logits route of _recovery.py: dL/dz = k (p - e_y). Exact, and no more than a look at the gradient."""

import torch

from ._recovery import IDENTITY, WORKING, Found, wide
from ._single import one_target
from ._whole import complete

# Entries of the vocabulary, besides the target, that the logits route compares: enough for a slope and a residual.
FEW_ENTRIES = 64

# Entries of a gradient in which the farthest ones are looked for in one way only.
MANY = 2**24


def entries_of(vocab, most):
    """(K,) sorted ids of the vocabulary, all of it where it is small. Never the script's random numbers."""
    if vocab <= most:
        return torch.arange(vocab)
    generator = torch.Generator().manual_seed(vocab)
    return torch.randperm(vocab, generator=generator)[:most].sort().values


def from_logits(
    gradient, entries, z_entries, candidates, z_candidates, precision, post=IDENTITY, z_of=None, known=None, teachers=(), search=True, width=None,
    lse=None,
):
    """gradient (N, V) of the logits before `post`; z_entries (N, K) and z_candidates (N, C) their values at `entries` (K,)
    and at `candidates` (N, C), -1 for none. z_of(at, ids), where there is one, computes a value that was not kept. `known`: the
    Shape of an earlier pass; `teachers`: what other models said of the same positions, _whole.Teacher each. `width`: columns of a
    row, of which the positions are one row after the other. `lse` (N,), where it is known, is log sum exp of all logits after `post`."""
    count, vocab = gradient.shape
    device = gradient.device
    entries = entries.to(device)
    step = max(1, WORKING // (4 * vocab))
    parts = [[], [], [], [], []]
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
        # All entries of a function of probabilities add up to 0: what is left of one target is what moves all logits alike.
        excess = g[rows].sum(-1, dtype=wide(g.dtype)).double() / total[rows].double()
        for part, value in zip(parts, (rows + begin, target, g_target, g_entries, excess)):
            part.append(value)
    if not parts[0]:
        return Found(torch.zeros(0, dtype=torch.int64), not_finite)
    at, target, g_target, g_entries, excess = (torch.cat(part) for part in parts)
    spots = Spots(gradient, entries, z_entries[at], candidates[at], z_candidates[at], at, z_of, vocab, width or count)
    spots.known_sum(post, None if lse is None else lse[at])
    found = Found(at.cpu(), not_finite)
    z_target = spots.value_of(target)
    values = one_target(spots.z, g_entries, target, z_target, g_target, entries, post, vocab, gradient.dtype)
    found.put(slice(None), **values)
    complete(found, spots, g_entries, values, excess, precision, post, known, teachers, search)
    return found


class Spots:
    """The positions with a gradient: n of them."""

    def __init__(self, gradient, entries, z, candidates, z_candidates, at, z_of, vocab, width):
        self.gradient, self.entries, self.z = gradient, entries, z.double()
        self.candidates, self.z_candidates = candidates, z_candidates.double()
        self.at, self.z_of, self.vocab, self.width = at, z_of, vocab, width
        # All logits of the positions, where they were kept; else, where it is known, log sum exp of them after a Post.
        self.all = self.z if self.entries.numel() == vocab else None
        self.summed = None
        self.guesses = None
        self.step = max(1, WORKING // (4 * vocab))

    def some(self, index):
        out = Spots(
            self.gradient,
            self.entries,
            self.z[index],
            self.candidates[index],
            self.z_candidates[index],
            self.at[index],
            self.z_of,
            self.vocab,
            self.width,
        )
        out.all = None if self.all is None else self.all[index]
        if self.summed is not None:
            out.summed = (self.summed[0], self.summed[1][index])
        return out

    def known_sum(self, post, lse):
        self.summed = None if lse is None else (post, lse)

    def lse_at(self, tau, post):
        """(n,) the logarithm of the sum of exp(f(z) / tau) over the vocabulary, with f the Post; NaN where it is not known."""
        if self.all is not None:
            return torch.logsumexp(post.value(self.all) / tau, 1)
        if self.summed is not None and self.summed[0] is post and tau == 1.0:
            return self.summed[1].double()
        return torch.full(self.at.shape, torch.nan, dtype=torch.float64, device=self.at.device)

    @property
    def columns(self):
        return self.at % self.width

    def thinner(self, few):
        """With some of the entries only."""
        thin = self.some(slice(None))
        thin.guesses = self.hypotheses()
        thin.entries, thin.z = self.entries[few], self.z[:, few]
        return thin

    def targets(self, g_entries):
        """(n,) the odd one out, whatever its size."""
        ids = torch.empty(self.at.shape, dtype=torch.int64, device=self.at.device)
        rest = torch.sign(torch.sign(g_entries).sum(1))
        for part in range(0, self.at.numel(), self.step):
            rows = slice(part, part + self.step)
            ids[rows] = odd_of(self.gradient[self.at[rows]], rest[rows])
        return ids

    def hypotheses(self):
        """(n, H) ids that a target may be, -1 for none: the candidates, and where the gradient is farthest from 0. With them
        their logits, NaN where not known, and gradients."""
        if self.guesses is not None:
            return self.guesses
        far = []
        for rows in self.at.split(self.step):
            g = self.gradient[rows]
            if self.gradient.shape[0] * self.vocab > MANY:  # a second of each would take ten times as long
                far.append(torch.stack([g.argmax(1), g.argmin(1)], 1))
            else:
                far.append(torch.cat([g.topk(2, dim=1).indices, g.topk(2, dim=1, largest=False).indices], 1))
        ids = torch.cat([self.candidates, torch.cat(far)], 1)
        z = torch.stack([self.value_of(column.clamp(min=0)) for column in ids.unbind(1)], 1)
        self.guesses = ids, z, self.gradient[self.at[:, None], ids.clamp(min=0)].double()
        return self.guesses

    def value_of(self, ids):
        """(n,) the logit of one id each; NaN where it was not kept, and cannot be computed."""
        value = value_of(ids, self.candidates, self.z_candidates, self.entries, self.z)
        lost = value.isnan().nonzero().flatten()
        if lost.numel() > 0 and self.z_of is not None:
            value[lost] = self.z_of(self.at[lost], ids[lost]).double()
        return value


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
        target[missed] = odd_of(g[rows[missed]], rest[missed, 0])
    return target


def odd_of(g, sign):
    """(n,) the entry that is farthest on the other side of 0 than `sign`, that of the rest."""
    low, high = g.argmin(1), g.argmax(1)
    heavier = g.gather(1, low[:, None]).abs() >= g.gather(1, high[:, None]).abs()
    return torch.where(sign > 0, low, torch.where(sign < 0, high, torch.where(heavier[:, 0], low, high)))


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
