"""What one backward pass told of one forward pass, piece by piece, until it is a `trained` record."""

import torch

from ..gradient._hidden import from_hidden
from ..gradient._logits import from_logits
from ..gradient._recovery import IDENTITY, PRECISIONS, coarsest
from ._teachers import teachers_of
from ._values import logit_of, lse_of

# Positions of one backward pass that the cheap mode compares in all directions of the hidden states, not in a sketch.
CHEAP_CHECKS = 64

# And those that it looks for in the whole vocabulary: each costs about as much as it takes to test its candidates.
CHEAP_SEARCHES = 256


class Piece:
    """Logits of columns [start, start + width) of all rows, as far as they are remembered."""

    dead = False
    # They are those of a head that is given the hidden states as they are.
    reads = False
    # What the head was called with, where it is a module: _values.Given.
    given = None
    # A weak reference to the logits, where a module gave them.
    out = None

    def __init__(self, start, width, entries, z_entries, candidates, z_candidates, whole, post, dtype):
        self.start, self.width = start, width
        self.entries, self.z_entries = entries, z_entries
        self.candidates, self.z_candidates = candidates, z_candidates
        self.whole = whole
        self.post, self.dtype = post, dtype


class Pass:
    def __init__(self, task, by_hand=None):
        self.task = task
        # The call of torch.autograd.grad that it is of: the optimiser gets what the script makes of that.
        self.by_hand = by_hand
        self.clear()

    def clear(self):
        self.route = None
        self.dtype = None
        self.found = []

    def silent(self):
        """No position had a gradient."""
        return all(found.at.numel() == 0 and found.not_finite == 0 for found, _, _ in self.found)

    def add(self, route, found, rows, columns, dtype):
        self.route = route
        self.dtype = dtype if self.dtype is None else coarsest(self.dtype, dtype)
        self.found.append((found, rows, columns))

    def surprise(self):
        """(sum of weight x -log p, tokens, dtype): what a supervised loss is worth by its own gradient. None where something of it is
        not known, or where it is no supervised one."""
        total, tokens = 0.0, 0
        for found, _, _ in self.found:
            tempered = (found.temperatures - 1).abs() > 0
            if found.terms or found.not_finite or self.by_hand is not None or bool((tempered & found.temperatures.isfinite()).any()):
                return None
            if not bool((found.weights >= 0).all()) or not bool(found.logprobs.isfinite().all()):
                return None
            total -= float((found.weights * found.logprobs).sum())
            tokens += int((found.weights > 0).sum())
        return total, tokens, self.dtype

    def fields(self, scale):
        kind = torch.float64 if self.dtype == "float64" else torch.float32
        rows = torch.cat([rows for _, rows, _ in self.found])
        columns = torch.cat([columns for _, _, columns in self.found])
        order = torch.argsort(rows * (int(columns.max()) + 1 if columns.numel() else 1) + columns, stable=True)

        def joined(name):
            return torch.cat([getattr(found, name) for found, _, _ in self.found])[order]

        return {
            "route": self.route,
            "dtype": self.dtype,
            "rows": rows[order].to(torch.int32),
            "columns": columns[order].to(torch.int32),
            "targets": joined("targets").to(torch.int32),
            "weights": (joined("weights") / scale).to(kind),
            "residuals": joined("residuals").to(torch.float32),
            "temperatures": joined("temperatures").to(torch.float32),
            "logprobs": joined("logprobs").to(kind),
            "not_finite": sum(found.not_finite for found, _, _ in self.found),
            **({} if self.by_hand is None else {"pass": self.by_hand}),
            **terms_of([found for found, _, _ in self.found], scale),
            **unread_of([found for found, _, _ in self.found]),
        }


def terms_of(founds, scale):
    """What else is in the loss, of all pieces together: sums are added, the rest is the same everywhere."""
    out = {}
    for found in founds:
        for term in found.terms:
            term = dict(term)
            if "sum" in term:
                term["sum"] = term["sum"] / scale
            key = (term["kind"], term.get("model"))
            if key in out and "sum" in term:
                out[key]["sum"] += term["sum"]
            else:
                out.setdefault(key, term)
    return {"terms": list(out.values())} if out else {}


def unread_of(founds):
    out = {}
    for found in founds:
        for why, count in found.unread.items():
            out[why] = out.get(why, 0) + count
    return {"unread": out} if out else {}


def logits_result(forward, piece, gradient):
    """(Found, rows, columns) of the gradient (n, V) of a piece's logits."""
    found = from_logits(
        gradient,
        piece.entries,
        piece.z_entries,
        piece.candidates,
        piece.z_candidates,
        coarsest(piece.dtype, forward.precision),
        piece.post,
        logit_of(forward, piece),
        forward.model.shape,
        teachers_of(forward, piece),
        forward.model.worth_a_look,
        piece.width,
        lse_of(forward, (piece.start, piece.width), piece.post.value(piece.z_candidates[:, 0])),
    )
    forward.model.remember(found)
    return found, found.at // piece.width, found.at % piece.width + piece.start


def hidden_result(forward, gradient):
    """(Found, rows, columns, dtype) of the gradient (B, T, d) of the hidden states; None where the head is of another form."""
    weight, bias = forward.model.weight()
    hidden = forward.hidden
    if weight is None or hidden is None or weight.shape[1] != gradient.shape[-1]:
        return None
    rows, columns = forward.ids.shape
    if forward.candidates is None:
        return None
    width = gradient.shape[-1]
    names = [str(dtype).replace("torch.", "") for dtype in (gradient.dtype, hidden.dtype, weight.dtype)]
    precision = coarsest(*(name for name in names if name in PRECISIONS), forward.precision)
    exact = forward.exact(gradient)
    candidates = torch.where(forward.candidates < weight.shape[0], forward.candidates, -1)
    found = from_hidden(
        gradient.reshape(-1, width),
        hidden.reshape(-1, width),
        weight,
        bias,
        candidates,
        precision,
        forward.post or IDENTITY,
        None if exact else lambda at: sample(at, columns),
        None if exact else CHEAP_SEARCHES,
        forward.model.temperature,
        forward.model.shape,
        forward.model.worth_a_look,
        columns,
    )
    forward.model.remember(found)
    told = found.temperatures[~found.temperatures.isnan()]
    forward.model.temperature = float(told[0]) if told.numel() > 0 else forward.model.temperature
    return found, found.at // columns, found.at % columns, precision


def sample(at, columns):
    """Indexes into `at`, sorted positions row by row: first and last of each row, then both sides of each gap, then others
    at random (never the script's random numbers), CHEAP_CHECKS of all."""
    count = at.numel()
    if count <= CHEAP_CHECKS:
        return torch.arange(count, device=at.device)
    places = at.cpu()
    row = places // columns
    new_row = torch.ones(count, dtype=torch.bool)
    new_row[1:] = row[1:] != row[:-1]
    last = torch.ones(count, dtype=torch.bool)
    last[:-1] = new_row[1:]
    gap = torch.zeros(count, dtype=torch.bool)
    gap[1:] = places[1:] != places[:-1] + 1
    edge = torch.zeros(count, dtype=torch.bool)
    edge[:-1] = gap[1:]
    rank = torch.rand(count, generator=torch.Generator().manual_seed(count))
    rank = rank + torch.where(new_row | last, 0.0, torch.where(gap | edge, 1.0, 2.0))
    return rank.argsort()[:CHEAP_CHECKS].sort().values.to(at.device)
