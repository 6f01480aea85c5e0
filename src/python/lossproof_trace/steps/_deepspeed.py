"""Steps of DeepSpeed's engine. Its optimiser holds flat partitions, group by group, and none of the model's own tensors: what one
step of the engine does is one step, of the model that the engine carries. Its loss scale is told, too."""

import functools
import math
import sys

from ..models import _models


def install(session, module):
    from ._optimiser import Steps

    engine = getattr(module, "DeepSpeedEngine", None)
    if engine is None or not Steps.made:
        return
    steps = Steps.made[-1]
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
        result = step(self, *args, **kwargs)
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

    engine.step, engine.backward = watched_step, watched_backward


def tensors_of(engine, optimizer):
    """What a step changes: the partitions that the optimiser holds, or, of ZeRO 3, this rank's part of each parameter."""
    parts = [getattr(parameter, "ds_tensor", None) for parameter in engine.module.parameters()]
    held = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    return [part for part in parts if part is not None] or held


def models_in(session, module):
    return [index for index in [_models.index_of(session, module)] if index >= 0] or [
        model.index for model in _models.known() if any(part is model.root for part in module.modules())
    ]
