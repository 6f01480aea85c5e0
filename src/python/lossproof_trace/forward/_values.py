"""A logit that was not kept where it was computed: read off the few positions of which all logits are kept, else computed
again from what the head was called with, where the head is seen to be a product with its weight."""

import torch

from ..gradient._recovery import WORKING, coarsest

# Logits that are kept whole, of all positions of a call together: 16 MiB in float32.
MOST_WHOLE = 2**22

# Positions and entries at which the head's product is compared with what it gave.
COMPARED = 4, 8

# What it may be off by: a share of how far these logits are apart, and of their size. Half precision rounds both.
APART, SIZE = 1e-3, 1e-5
COARSE_APART, COARSE_SIZE = 3e-2, 1e-2


class Whole:
    """All logits of some positions: `at` (R,), sorted, and z (R, V)."""

    def __init__(self, at, z):
        self.at, self.z = at, z

    def some(self, positions):
        """The Whole in which position i is what `positions` (n,) has at i."""
        kept = torch.isin(positions, self.at).nonzero().flatten()
        return Whole(kept, self.z[torch.searchsorted(self.at, positions[kept])])

    def value(self, at, ids):
        """(n,) the logit of one id of each position in `at`; NaN where the position was not kept."""
        if self.at.numel() == 0:
            return torch.full(at.shape, float("nan"), dtype=torch.float64, device=at.device)
        place = torch.searchsorted(self.at, at).clamp(max=self.at.numel() - 1)
        return torch.where(self.at[place] == at, self.z[place, ids].double(), torch.nan)


def without_next(z, candidates):
    """The Whole of positions whose next token is not among the ids that the model was given, of z (N, V): the last of each row.
    What they are trained toward cannot be guessed before the backward pass, and one row in a batch's width is cheap."""
    at = (candidates[:, 0] < 0).nonzero().flatten()[: MOST_WHOLE // z.shape[1]]
    return Whole(at, z.index_select(0, at))


def lse_of(forward, place, z_next):
    """(N,) the logarithm of the sum of exp of all logits of the columns `place`, by the log-probability of the next token and its
    logit (N,): NaN where that is not known. Reckoned once, for the record, and no second time."""
    if forward.logprobs is None:
        return None
    start, width = place
    out = torch.full((forward.ids.shape[0], width), torch.nan, device=z_next.device)
    known = forward.logprobs[:, start + 1 : start + 1 + width].to(z_next.device)
    out[:, : known.shape[1]] = z_next.reshape(out.shape)[:, : known.shape[1]].float() - known
    return out.flatten()


class Given:
    """What the head was called with; `as_it_was` is false once the script has written into it."""

    def __init__(self, x):
        self.x = x.detach().reshape(-1, x.shape[-1])
        self.of, self.version = x.detach(), x._version

    @property
    def as_it_was(self):
        return self.of._version == self.version


def logit_of(forward, piece):
    """z(at, ids) of positions and ids (n,): NaN where it can neither be read nor computed."""
    product = product_of(forward, piece)

    def value(at, ids):
        z = piece.whole.value(at, ids)
        lost = z.isnan().nonzero().flatten()
        if product is not None and lost.numel() > 0:
            z[lost] = product(at[lost], ids[lost])
        return z

    return value


def product_of(forward, piece):
    """W h + b as the head computes it, where this is what the head does; or None."""
    x = given_to(forward, piece)
    weight, bias = forward.model.weight()
    if x is None or weight is None or weight.shape != (forward.vocab, x.shape[1]) or weight.device != x.device:
        return None
    kind = getattr(torch, piece.dtype)
    half = kind in (torch.float16, torch.bfloat16)
    step = max(1, WORKING // (16 * x.shape[1]))

    def value(at, ids):
        parts = []
        for rows, columns in zip(at.split(step), ids.split(step)):
            w, h = weight[columns], x[rows]
            z = (w.to(kind).double() * h.to(kind).double()).sum(-1) if half else (w.double() * h.double()).sum(-1)
            z = z if bias is None else z + bias[columns].double()
            parts.append(z.to(kind).double() if half else z)
        return torch.cat(parts)

    return value if agrees(value, piece, coarsest(piece.dtype, forward.precision)) else None


def given_to(forward, piece):
    """(N, d) the hidden states behind a piece's logits, or None."""
    if piece.given is not None:
        return piece.given.x if piece.given.as_it_was else None
    if forward.hidden is None:
        return None
    hidden = forward.hidden[:, piece.start : piece.start + piece.width]
    return hidden.reshape(-1, hidden.shape[-1])


def agrees(value, piece, precision):
    kept, (positions, entries) = piece.z_entries, COMPARED
    at = torch.linspace(0, kept.shape[0] - 1, min(positions, kept.shape[0]), device=kept.device).long()
    of = torch.linspace(0, kept.shape[1] - 1, min(entries, kept.shape[1]), device=kept.device).long()
    z = kept[at][:, of].double()
    again = value(at.repeat_interleave(of.numel()), piece.entries[of].repeat(at.numel())).reshape(z.shape)
    apart, size = (APART, SIZE) if precision in ("float32", "float64") else (COARSE_APART, COARSE_SIZE)
    room = apart * (z - z.mean(1, keepdim=True)).abs().amax(1, keepdim=True) + size * z.abs().amax(1, keepdim=True)
    return bool(((again - z).abs() <= room).all())
