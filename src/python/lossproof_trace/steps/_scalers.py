"""Gradient scalers: the factor on the loss, whether it is off the gradients again when they are used, and steps left out."""

import functools
import weakref


class Scalers:
    def __init__(self, session):
        self.session = session
        self.latest = None
        # Depth of the scaler's own calls of the optimiser.
        self.stepping = 0

    def watch(self, torch, skip):
        session = self.session
        scaler = getattr(getattr(torch, "amp", None), "GradScaler", None)
        if scaler is None:
            scaler = torch.cuda.amp.GradScaler
        scale, step, update = scaler.scale, scaler.step, scaler.update
        mine = self

        @functools.wraps(scale)
        def watched_scale(self, outputs):
            scaled = scale(self, outputs)
            with session.guard("gradient scaler"):
                mine.latest = weakref.ref(self)
                session.set_grad_scale(getattr(self, "_scale", None) if self.is_enabled() else None)
            return scaled

        @functools.wraps(step)
        def watched_step(self, optimizer, *args, **kwargs):
            mine.stepping += 1
            try:
                result = step(self, optimizer, *args, **kwargs)
            finally:
                mine.stepping -= 1
            with session.guard("gradient scaler"):
                inner = getattr(optimizer, "optimizer", optimizer)
                if self.is_enabled() and not getattr(inner, "_step_supports_amp_scaling", False):
                    state = self._per_optimizer_states.get(id(optimizer)) or {}
                    if sum(float(found) for found in state.get("found_inf_per_device", {}).values()) > 0:
                        skip(inner)
            return result

        @functools.wraps(update)
        def watched_update(self, *args, **kwargs):
            session.set_grad_scale(None)
            return update(self, *args, **kwargs)

        scaler.scale, scaler.step, scaler.update = watched_scale, watched_step, watched_update

    def still_on(self, optimizers):
        """The factor that is still on the gradients of all of these; 1.0 where it was taken off, or there is none."""
        scaler = None if self.latest is None else self.latest()
        if scaler is None or not scaler.is_enabled() or self.session._scale is None or not optimizers:
            return 1.0
        states = scaler._per_optimizer_states
        # Wrappers (accelerate's) are known to the scaler in the place of what they wrap.
        if any(state.get("stage") is not None and state["stage"].value > 0 for state in states.values()):
            return 1.0
        return self.session.grad_scale()
