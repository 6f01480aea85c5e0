"""Optimisers that hold other tensors than those of a model: copies in a finer precision, from which the model follows, or
tensors that the model has left behind. And whether a model moved while no optimiser was at work."""

from ..models import _models
from . import _held, _tensors

# A copy that lies flat in memory is padded.
PADDED = 0.05
# Of tensors that are told by name; the rest are counted.
MOST_NAMED = 256


class Copies:
    def __init__(self, session, torch):
        self.session = session
        self.torch = torch
        # Model index to samples of its tensors, as they were last seen.
        self.seen = {}
        # Model index to what its latest step was made with, until it is seen whether the model follows.
        self.waiting = {}

    def models_of(self, parameters):
        """Models that were trained, that no optimiser holds, and that these tensors stand for."""
        session = self.session
        trained = {session._model_of.get(forward) for forward in (*session.arrived, *session.thrown)}
        out = []
        for model in _models.known():
            if model.index not in trained or model.root is None:
                continue
            own = [p for p in model.root.parameters() if p.requires_grad]
            if own and not _held.holders(own) and stands_for(parameters, own):
                out.append(model.index)
        return out

    def stepped(self, pending):
        for model in _models.known():
            if model.index not in pending.models or model.root is None:
                continue
            self.seen[model.index] = self.sample(model)
            if pending.copies:
                held = [p for p in pending.parameters if p.grad is not None]
                self.waiting[model.index] = (pending, len(held), self.session.step)

    def called(self, model, within):
        """A training forward pass of the model: does it come with other weights than the last step left?"""
        before = self.seen.get(model.index)
        if before is None:
            return
        pairs = _tensors.compared(self.torch, before)
        same = _tensors.numbers(self.torch, [_tensors.equal(now, then) for _, then, now in pairs])
        moved = sum(1 for value in same if value == 0) + len(before) - len(pairs)
        self.seen[model.index] = self.sample(model)
        if model.index in self.waiting:
            pending, gradients, step = self.waiting.pop(model.index)
            self.session.write(
                "event", what="followed", step=max(0, step - 1), model=model.index, place=pending.place, names=[],
                values={
                    "moved": moved, "of": len(before), "gradients": gradients, "tensors": len(pending.parameters),
                    "rate": max(pending.rates, default=None),
                },
            )
        elif moved and within:
            self.session.write(
                "event", what="between", step=self.session.step, model=model.index, place=None, names=[], values={"moved": moved}
            )
        elif not within:
            self.made_anew(model, {id(tensor) for (tensor, _, _), value in zip(pairs, same) if value == 0})

    def made_anew(self, model, moved):
        names = [name for name, parameter in model.root.named_parameters() if id(parameter) in moved]
        if names:
            self.session.write(
                "event", what="made-anew", step=self.session.step, model=model.index, place=None, names=names[:MOST_NAMED],
                values={"tensors": len(names)},
            )

    def sample(self, model):
        return _tensors.few_of_all(self.torch, list(model.root.parameters()))


def stands_for(parameters, own):
    if not any(parameter.grad is not None for parameter in parameters):
        return True
    shapes = [tuple(parameter.shape) for parameter in own]
    try:
        for parameter in parameters:
            shapes.remove(tuple(parameter.shape))
        return True
    except ValueError:
        pass
    total = sum(parameter.numel() for parameter in own)
    return abs(sum(parameter.numel() for parameter in parameters) - total) <= PADDED * total
