"""Steps of DeepSpeed's engine. Its optimiser holds flat partitions, group by group, and none of the model's own tensors: what one
step of the engine does is one step, of the model that the engine carries. Its loss scale is told, too, and what becomes of each
rank's partition of the gradients between the last backward pass and the step."""

import functools
import math
import sys
import weakref

from ..models import _models
from . import _clipping, _tensors

# Where ZeRO keeps the partitions that its optimiser holds: stages 1 and 2, and stage 3.
HELD = ("single_partition_of_fp32_groups", "fp32_partitioned_groups_flat")
# Tensors of a group's partition that are looked at, and elements of each.
MOST = 16


def install(session, module):
    from ._optimiser import Steps

    engine = getattr(module, "DeepSpeedEngine", None)
    if engine is None or not Steps.made:
        return
    steps = Steps.made[-1]
    # Engine to its gradients as the latest backward pass left them.
    left = weakref.WeakKeyDictionary()
    step, backward = engine.step, engine.backward

    @functools.wraps(step)
    def watched_step(self, *args, **kwargs):
        inner = whole = None
        with session.guard("DeepSpeed's step"):
            whole = bool(self.is_gradient_accumulation_boundary())
            inner = getattr(self, "basic_optimizer", None) or self.optimizer
        if not whole or not hasattr(inner, "param_groups"):
            return step(self, *args, **kwargs)
        steps.before(inner, (), {}, (sys._getframe(), lambda: models_in(session, self.module), functools.partial(tensors_of, self)))
        pending, partitions, seen = steps.pending, left.pop(self, None), None
        with session.guard("DeepSpeed's gradients"):
            clipped(session, self, pending, steps.backwards)
            if partitions is not None:
                seen = inner.register_step_pre_hook(lambda *_: partitions.compare(self.optimizer))
        try:
            result = step(self, *args, **kwargs)
        finally:
            if seen is not None:
                seen.remove()
        if partitions is not None and pending is not None and pending.models:
            with session.guard("DeepSpeed's gradients"):
                partitions.told(session, pending)
        pending = steps.pending
        if pending is not None and pending.optimizer is inner:
            with session.guard("DeepSpeed's step"):
                norm = self.get_global_grad_norm()
                pending.norm = float(norm) if norm is not None and math.isfinite(float(norm)) else pending.norm
                pending.skipped = bool(getattr(self.optimizer, "overflow", False))
        steps.after(inner, (), {})
        return result

    @functools.wraps(backward)
    def watched_backward(self, *args, **kwargs):
        with session.guard("DeepSpeed's backward"):
            scale = getattr(getattr(self.optimizer, "loss_scaler", None), "cur_scale", None)
            session.set_grad_scale(scale if isinstance(scale, (int, float)) else None)
        try:
            return backward(self, *args, **kwargs)
        finally:
            session.set_grad_scale(None)
            with session.guard("DeepSpeed's gradients"):
                left[self] = Partitions(steps.torch, self.optimizer)

    engine.step, engine.backward = watched_step, watched_backward


class Partitions:
    """A few elements of this rank's gradients, group by group, in the order in which ZeRO flattens them for its optimiser."""

    def __init__(self, torch, optimizer):
        self.torch = torch
        # Group to (positions in the flat partition, values).
        self.taken = {}
        self.sums = [0.0, 0.0, 0.0]
        groups = getattr(optimizer, "averaged_gradients", None)
        for group, tensors in groups.items() if isinstance(groups, dict) else ():
            if isinstance(tensors, (list, tuple)):
                with torch.no_grad():
                    self.take(group, tensors)

    def take(self, group, tensors):
        positions, values, start = [], [], 0
        every = max(1, len(tensors) // MOST)
        for at, tensor in enumerate(tensors):
            few = _tensors.few_of(self.torch, tensor) if at % every == 0 else None
            if few is not None:
                positions.append(few[0] + start)
                values.append(few[1].double())
            start += tensor.numel()
        if values:
            self.taken[group] = (self.torch.cat(positions), self.torch.cat(values))

    def compare(self, optimizer):
        """Its inner optimiser makes a step, for each group or for all: a partition has its gradient then, and not before."""
        held = next((getattr(optimizer, name) for name in HELD if hasattr(optimizer, name)), ())
        with self.torch.no_grad():
            for group, (positions, then) in list(self.taken.items()):
                flat = _tensors.flat_of(self.torch, held[group].grad) if group < len(held) else None
                if flat is None:
                    continue
                del self.taken[group]
                now = flat.index_select(0, positions.to(flat.device)).to(then)
                found = _tensors.numbers(self.torch, [(then * then).sum(), (then * now).sum(), (now * now).sum()])
                self.sums = [a + b for a, b in zip(self.sums, found)]

    def told(self, session, pending):
        before, both, after = self.sums
        if not before > 0 or not after > 0 or not math.isfinite(before * after):
            return
        values = {"factor": both / before, "cosine": both / (before * after) ** 0.5}
        model, place = pending.models[0], pending.place
        session.write("event", what="partition", step=pending.index, model=model, place=place, names=[], values=values)


def clipped(session, engine, pending, backwards):
    """Events of calls of torch's clipping on the engine's parameters: it has their gradients elsewhere, and clips by itself if asked."""
    if pending is None or not pending.models or engine.gradient_clipping():
        return
    own = {id(parameter) for parameter in engine.module.parameters()}
    for place, name, given, bound, passes, scale, kind in _clipping.made:
        if given and given <= own and not kind["gradients"]:
            values = {"function": name, "bound": bound, "given": len(given), "gradients": 0, "left": 0, "of": len(own), "held": 0}
            values.update(passes=passes, of_passes=backwards.since, scale=scale, engine=type(engine).__name__)
            session.write("event", what="clip", step=pending.index, model=pending.models[0], place=place, names=[], values=values)


def tensors_of(engine, optimizer):
    """What a step changes: the partitions that the optimiser holds, or, of ZeRO 3, this rank's part of each parameter."""
    parts = [getattr(parameter, "ds_tensor", None) for parameter in engine.module.parameters()]
    held = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    return [part for part in parts if part is not None] or held


def models_in(session, module):
    return [index for index in [_models.index_of(session, module)] if index >= 0] or [
        model.index for model in _models.known() if any(part is model.root for part in module.modules())
    ]
