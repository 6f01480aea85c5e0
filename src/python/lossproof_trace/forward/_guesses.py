"""Calls that end in hidden states, or in a loss, and show no head: it is a bare parameter, the embedding's own weight, or a module of its
own outside of the one that takes the ids. Which tensor it is, the gradient says: the one whose product with the hidden states explains
what comes back to them. Until then nothing is recorded, so that no other model is taken for one that predicts tokens."""

import weakref

import torch

from ..gradient._hidden import from_hidden
from ..gradient._recovery import BAND, PRECISIONS, coarsest
from ..models import _models, _owners
from . import _arguments, _heads
from ._backward import on_hidden
from ._forward import Forward, autocast

# Gradients that no tensor explains, behind which a module is not asked any more.
MOST_FAILED = 2
# Tensors that are tried, the likeliest first, and positions that they are tried on.
MOST_TRIED = 6
POSITIONS = 64
# Of the positions, so many must be explained.
EXPLAINED = 0.9

_failed = weakref.WeakKeyDictionary()


def guess(session, frame, core, hidden, failing=None):
    """The Guess of a call, or None. `failing` is called where no tensor turns out to be its head."""
    if not torch.is_grad_enabled() or torch._C._current_graph_task_id() != -1 or _failed.get(core, 0) >= MOST_FAILED:
        return None
    fits = isinstance(hidden, torch.Tensor) and hidden.ndim == 3 and hidden.requires_grad and hidden.shape[:2] == frame.ids.shape
    return Guess(session, frame, core, hidden, failing) if fits else None


def told(session, frame, model, hidden):
    """The Forward of a call of a model that an earlier gradient has shown."""
    forward = Forward(session, frame, model, model.weight()[0].shape[0])
    forward.saw_hidden(hidden)
    return forward


class Guess:
    model = None
    dead = False

    def __init__(self, session, frame, core, hidden, failing):
        self.session, self.frame, self.core, self.failing = session, frame, core, failing
        self.hidden = hidden.detach()
        self.most = int(frame.ids.max()) if frame.ids.numel() > 0 else 0
        self.precision = autocast(frame.ids.device)
        self.forward = None
        hidden.register_hook(self.arrived)

    def returned(self, result):
        pass

    def arrived(self, gradient):
        with self.session.guard("guess"):
            if self.dead or gradient is None or not bool((gradient != 0).any()):
                return
            if self.forward is None:
                self.forward = self.found(gradient.detach())
            if self.forward is None:
                self.dead = True
                _failed[self.core] = _failed.get(self.core, 0) + 1
                if self.failing is not None:
                    self.failing()
                return
            on_hidden(self.forward, gradient)

    def found(self, gradient):
        model = _models.find(self.core)
        if model is None:
            table = self.explaining(gradient)
            if table is None:
                return None
            model = _models.add(
                self.session, self.core, "hand", table[0].shape[0], device=self.hidden.device, seated=self.frame.seated, table=table
            )
        if model.weight()[0] is None:
            return None
        forward = Forward(self.session, self.frame, model, model.weight()[0].shape[0])
        # It is made inside of the backward pass; the call was one with gradients.
        forward.grad, forward.hidden, forward.hidden_hooked = True, self.hidden, True
        forward.precision = coarsest(forward.precision, self.precision)
        forward.think()
        forward.put(forward.told(None, None))
        model.recent.append((forward.ids, True))
        return forward

    def explaining(self, gradient):
        """(weight, bias) of the tensor that explains the gradient; None: none does."""
        width = gradient.shape[-1]
        g, h = gradient.reshape(-1, width), self.hidden.reshape(-1, width)
        at = (g != 0).any(1).nonzero().flatten()[:POSITIONS]
        candidates = _arguments.candidates_of(self.frame.ids, self.frame.named)
        candidates = candidates.reshape(g.shape[0], -1)[at]
        for forms in (False, True):
            for weight, bias in self.tables(width)[: MOST_TRIED if not forms else 2]:
                names = [str(each.dtype).replace("torch.", "") for each in (gradient, self.hidden, weight)]
                precision = coarsest(*(name for name in names if name in PRECISIONS), self.precision)
                ids = torch.where(candidates < weight.shape[0], candidates, -1)
                found = from_hidden(g[at], h[at], weight.detach(), None if bias is None else bias.detach(), ids, precision, forms=forms)
                fine = found.targets.ge(0) & found.weights.isfinite() & (found.residuals <= BAND[precision])
                if found.at.numel() > 0 and float(fine.double().mean()) >= EXPLAINED:
                    return weight, bias
        return None

    def tables(self, width):
        """[(weight, bias or None)] of what may be the head, the likeliest first: layers with an output for each token, parameters of
        that size, the embeddings' own."""
        own = _models.embeddings(self.core)
        sizes = {part.num_embeddings for part in own} or {self.most + 1}
        tables = {id(part.weight) for part in own}

        def fits(tensor):
            if tensor.ndim != 2 or tensor.shape[1] != width or tensor.shape[0] <= self.most or not tensor.is_floating_point():
                return False
            return any(abs(tensor.shape[0] - size) <= max(_heads.PADDING, int(_heads.SHARE * size)) for size in sizes)

        held = {id(each): each for each in (*self.core.parameters(), *self.session.parameters()) if fits(each)}
        layers = _owners.layers_of(held)
        heads = [(each, layers.get(id(each))) for each in held.values() if id(each) in layers]
        bare = [(each, None) for each in held.values() if id(each) not in layers and id(each) not in tables]
        return heads + bare + [(each, None) for each in held.values() if id(each) in tables and id(each) not in layers]
