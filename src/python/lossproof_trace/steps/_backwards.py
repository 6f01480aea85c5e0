"""Backward passes as a whole: how many there were, what the first one since a step finds in the gradients, and what the last
one before a step left in them."""

import functools

from ..forward._calls import keep_from_compiler
from ..models import _models
from ..recording import _frames
from . import _held, _losses, _tensors

# Tensors of a model that are sampled behind each backward pass.
SOME = 8
MOST_PLACES = 4


class Backwards:
    def __init__(self, session, torch):
        self.session = session
        self.torch = torch
        self.count = 0
        # Since the latest step of a language model.
        self.since = 0
        self.places = []
        self.depth = 0
        self.last = []
        self.loss = None
        # (factor, cosine) where clipping began, of what the script did before it.
        self.before_clip = None
        session.before_clip.append(lambda _: self.clipping())

    def clipping(self):
        if self.before_clip is None:
            with self.torch.no_grad():
                self.before_clip = self.changed()

    def watch(self):
        original = self.torch.autograd.backward

        @functools.wraps(original)
        def backward(*args, **kwargs):
            if self.depth > 0 or self.session.ended is not None:
                return original(*args, **kwargs)
            with self.session.guard("backward pass"):
                self.begins()
                self.loss = _losses.Loss(*roots_of(args, kwargs))
            self.depth += 1
            try:
                result = original(*args, **kwargs)
            finally:
                self.depth -= 1
            with self.session.guard("backward pass"):
                self.ends()
            with self.session.guard("loss"):
                _losses.told(self.session, self.loss)
            self.loss = None
            return result

        self.torch.autograd.backward = backward
        keep_from_compiler(backward)

    def begins(self):
        self.count += 1
        self.session.surprises = []
        self.before_clip = None
        self.since += 1
        place = _frames.place()
        if place is not None and place not in self.places and len(self.places) < MOST_PLACES:
            self.places.append(place)
        for _, held in _held.every():
            if held.gradients and held.backwards == self.count - 1:
                held.left = as_they_were(self.torch, held.gradients)

    def ends(self):
        models = set(self.session.arrived.values())
        tensors = [p for model in _models.known() if model.index in models and model.root is not None for p in model.root.parameters()]
        with_gradient = [p for p in tensors if p.grad is not None]
        chosen = with_gradient[:: max(1, len(with_gradient) // SOME)][: 2 * SOME]
        self.last = _tensors.few_of_all(self.torch, chosen, _tensors.gradient_of)

    def spent(self):
        """A step of a language model was made."""
        self.since, self.places = 0, []
        self.before_clip = None

    def stepped(self, held, parameters):
        """Behind a step: what it leaves is what the next backward pass may find."""
        held.backwards = self.count
        held.left = []
        held.gradients = _tensors.few_of_all(self.torch, parameters, _tensors.gradient_of)

    def changed(self):
        """(factor, cosine) of the gradients now against those that the last backward pass left; None: not known."""
        pairs = _tensors.compared(self.torch, self.last, _tensors.gradient_of)
        if not pairs or len(pairs) < len(self.last):
            return None
        sums = [[(a.double() * b.double()).sum() for a, b in ((then, then), (then, now), (now, now))] for _, then, now in pairs]
        flat = _tensors.numbers(self.torch, [value for three in sums for value in three])
        tt, tn, nn = (sum(flat[i::3]) for i in range(3))
        if not tt > 0 or not nn > 0:
            return None
        return tn / tt, tn / (tt * nn) ** 0.5


def roots_of(args, kwargs):
    """What torch.autograd.backward begins with, and what it multiplies that by."""
    return (
        args[0] if args else kwargs.get("tensors"),
        args[1] if len(args) > 1 else kwargs.get("grad_tensors"),
    )


def as_they_were(torch, taken):
    """Tensors whose gradients are to the bit what they were, and are not 0."""
    pairs = _tensors.compared(torch, taken, _tensors.gradient_of)
    flags = [_tensors.equal(now, then) & (then != 0).any() for _, then, now in pairs]
    return [tensor for (tensor, _, _), flag in zip(pairs, _tensors.numbers(torch, flags)) if flag == 1]
