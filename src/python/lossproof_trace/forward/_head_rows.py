"""Some rows of the head's gradient, as the gradients of its calls say that they must be: of its weight W, the sum over all positions
of dL/dz h. What its `.grad` is at the step may be another sum: of a fused loss that computes it by itself, or added up twice."""

import weakref

import torch

from ..gradient._logits import entries_of
from ..gradient._recovery import BAND, WORKING, coarsest

# Rows that are followed: of targets, whose gradient is the largest, and any others.
TARGETS, OTHERS = 32, 32

# Of a model that no optimiser steps, no more is kept.
MOST_PASSES = 4096

_all = weakref.WeakKeyDictionary()


class Rows:
    """Between two steps. `unknown`: something went through the head that was not read."""

    def __init__(self):
        self.ids = None
        self.expected = None
        self.given = []
        self.unknown = False
        self.dtype = "float64"
        self.passes = 0

    def choose(self, targets, vocab):
        if self.ids is None:
            some = targets[targets >= 0].unique()[:TARGETS]
            self.ids = torch.cat([some.to("cpu"), entries_of(vocab, OTHERS)]).unique()

    def add(self, of_logits, hidden):
        """of_logits (n, rows), hidden (n, d); by chunks, as both may be halves."""
        step = max(1, WORKING // (8 * hidden.shape[1]))
        for g, h in zip(of_logits.split(step), hidden.split(step)):
            part = g.float().t() @ h.float()
            self.expected = part if self.expected is None else self.expected + part.to(self.expected.device)


def of(model):
    rows = _all.get(model)
    if rows is None:
        rows = _all[model] = Rows()
    return rows


def spent(model):
    return _all.pop(model, None)


def from_logits(forward, piece, gradient, found):
    """`gradient` (n, V) of what the head's module gave for `piece`."""
    rows = begun(forward, found, coarsest(piece.dtype, forward.precision))
    given = piece.given
    if given is None or not given.as_it_was or given.x.shape[0] != gradient.shape[0]:
        rows.unknown = True
        return
    rows.choose(found.targets, forward.vocab)
    rows.add(gradient[:, rows.ids.to(gradient.device)], given.x)


def from_hidden(forward, found, precision):
    """Where no logits are seen: made again of the targets, weights and log-probabilities that were read."""
    rows = begun(forward, found, precision)
    weight, bias = forward.model.weight()
    known = found.targets.ge(0) & found.weights.isfinite() & found.logprobs.isfinite()
    if weight is None or found.terms or not forward.post.identity or not bool(known.all()) or bool((found.residuals > BAND[precision]).any()):
        rows.unknown = True
        return
    rows.choose(found.targets, weight.shape[0])
    hidden = forward.hidden.reshape(-1, forward.hidden.shape[-1])[found.at.to(forward.hidden.device)]
    step = max(1, WORKING // (16 * hidden.shape[1]))
    parts = [of_logits(rows.ids, weight, bias, found, at, hidden[at]) for at in torch.arange(hidden.shape[0]).split(step)]
    rows.add(torch.cat(parts), hidden)


def of_logits(ids, weight, bias, found, at, hidden):
    """(n, rows) the gradient of the logits `ids` at some of the positions: weight / tau x (p - one-hot)."""
    device = hidden.device
    ids, targets = ids.to(device), found.targets[at].to(device)
    z = hidden.double() @ weight[ids].double().t()
    own = (hidden.double() * weight[targets].double()).sum(1)
    if bias is not None:
        z, own = z + bias[ids].double(), own + bias[targets].double()
    tau = torch.where(found.temperatures[at].isfinite(), found.temperatures[at], 1.0).to(device)[:, None]
    p = torch.exp((z - own[:, None]) / tau + found.logprobs[at].to(device)[:, None])
    hit = (targets[:, None] == ids[None, :]).double()
    return found.weights[at].to(device)[:, None] / tau * (p - hit)


def begun(forward, found, precision):
    rows = of(forward.model)
    rows.passes += 1
    rows.dtype = coarsest(rows.dtype, precision)
    rows.given.append(forward.ids.unique().to("cpu"))
    known = found.not_finite == 0 and forward.session.in_grad() is None and rows.passes <= MOST_PASSES
    rows.unknown = rows.unknown or not known
    return rows
