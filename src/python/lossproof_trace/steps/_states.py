"""What an optimiser remembers of its steps (momentum, second moments): whether the next step begins with it."""

import weakref

from . import _tensors, _updates

# Parameters whose state is followed.
SOME = 8


class States:
    def __init__(self, session, torch):
        self.session = session
        self.torch = torch
        # (weak reference to a parameter, index of its optimiser, {name: (positions, values)}) behind the latest step of each.
        self.kept = []

    def stepped(self, held, optimizer, parameters):
        """Behind a step."""
        own = {id(parameter) for parameter in parameters}
        alive = [each for each in self.kept if each[0]() is not None and id(each[0]()) not in own]
        chosen = [each for each in parameters if each.grad is not None]
        chosen = chosen[:: max(1, len(chosen) // SOME)][:SOME]
        taken = [(weakref.ref(each), held.index, self.taken(optimizer, each)) for each in chosen]
        self.kept = alive + [each for each in taken if each[2]]

    def taken(self, optimizer, parameter):
        out = {}
        for name, tensor in self.tensors(optimizer, parameter).items():
            few = _tensors.few_of(self.torch, tensor)
            if few is not None:
                out[name] = few
        return out

    def tensors(self, optimizer, parameter):
        """Those that are more than a counter."""
        state = optimizer.state.get(parameter) or {}
        return {name: each for name, each in state.items() if isinstance(each, self.torch.Tensor) and each.is_floating_point() and each.numel() > 1}

    def count(self, pending):
        """How many steps the optimiser has made, by its own counter; 0 without any state, None without a counter."""
        states = [pending.optimizer.state.get(parameter) for parameter in pending.parameters if parameter.grad is not None]
        states = [state for state in states if state]
        return 0 if not states else _updates.number(states[0]["step"]) if "step" in states[0] else None

    def told(self, pending, held):
        """Before a step: one `event`; `of` is 0 where no earlier one left anything."""
        own = {id(parameter) for parameter in pending.parameters}
        before = [each for each in self.kept if each[0]() is not None and id(each[0]()) in own]
        lost = changed = 0
        for reference, _, values in before:
            now = self.tensors(pending.optimizer, reference())
            if not now:
                lost += 1
            elif any(name not in now or not self.same(now[name], *few) for name, few in values.items()):
                changed += 1
        count = self.count(pending)
        values = {} if count is None else {"count": count}
        anew = any(index != held.index for _, index, _ in before)
        values = {**values, "optimizer": held.index, "of": len(before), "lost": lost, "changed": changed, "anew": anew}
        self.session.write("event", what="state", step=pending.index, model=pending.models[0], place=pending.place, names=[], values=values)

    def same(self, tensor, positions, values):
        flat = _tensors.flat_of(self.torch, tensor)
        if flat is None or flat.numel() <= int(positions[-1]):
            return False
        if flat.device != values.device or flat.dtype != values.dtype:
            # Moved away for the time between two steps.
            return True
        return bool(_tensors.equal(flat.index_select(0, positions), values))
