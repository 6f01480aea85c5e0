"""The slope of each tensor, for `--slopes`: what was trained is known with its targets and weights, and so is the loss, so that it can be
computed again. One tensor is moved a little along its gradient and back, and the difference of the loss is compared with the gradient's
square: a backward pass of its own that is wrong, below the head, shows in nothing else. Two forward passes per tensor, in one step."""

import math

from ..forward import _calls
from ..gradient._head import Head
from ..gradient._recovery import IDENTITY

# Tensors that are moved, spread evenly over the model.
MOST = 48
# The loss is to change by this share of itself: far above rounding in float32, and nearly straight.
SHARE = 2e-3
# No tensor is moved by more than this share of itself; where the loss then changes by less than LEAST of it, nothing is told.
MOST_MOVED = 0.02
LEAST = 1e-4
# A rework of the gradients that is one factor for all, as clipping is: it is taken out.
ONE_FACTOR = 0.9999
# From here on a slope is measured with half of the step as well, from which it may differ by so much.
NEAR = 0.01
BENDS = 0.03
# What is computed again must be what was recorded, or nothing is known.
SAME = 1e-4


class Call:
    """A call of a language model that was trained: how it is made again, and what its loss is."""

    def __init__(self, torch, forward, found):
        self.forward, self.call = forward, forward.call
        self.rows = [torch.cat([each[at] for each in found]).long() for at in (1, 2)]
        self.targets, self.weights, temperatures, logprobs = (
            torch.cat([getattr(each[0], name) for each in found]) for name in ("targets", "weights", "temperatures", "logprobs")
        )
        self.tau = float(temperatures[temperatures.isfinite()].median()) if bool(temperatures.isfinite().any()) else 1.0
        same = bool(((temperatures - self.tau).abs() <= 1e-3)[temperatures.isfinite()].all())
        self.known = same and bool(self.weights.isfinite().all()) and bool(logprobs.isfinite().all()) and bool((self.targets >= 0).all())
        self.known = self.known and not any(each[0].terms or each[0].not_finite for each in found)
        self.value = -float((self.weights * logprobs).sum()) if self.known else math.nan


class Slopes:
    def __init__(self, session, torch):
        self.session, self.torch = session, torch
        # Calls since the latest step; None: a step was judged, which is enough.
        self.calls = []

    def wants(self):
        return self.calls is not None and self.torch.is_grad_enabled() and self.torch._C._current_graph_task_id() == -1

    def state(self):
        """Of the random numbers, for dropout."""
        torch = self.torch
        return torch.get_rng_state(), torch.cuda.get_rng_state() if torch.cuda.is_available() and torch.cuda.is_initialized() else None

    def trained(self, forward, now):
        if self.calls is not None and forward.call is not None and now.found:
            self.calls.append(Call(self.torch, forward, now.found))

    def step(self, pending, changed):
        """Before the optimiser works: one `event` for a step that can be computed again. `changed`: (factor, cosine) of the gradients
        against those that the backward passes left."""
        calls, self.calls = self.calls, [] if self.calls is not None else None
        if not calls or changed is None or changed[1] < ONE_FACTOR:
            return
        model = calls[0].forward.model
        values = self.measured(model, calls, 1 / changed[0])
        if values is not None:
            self.calls = None
            names = list(values)
            self.session.write(
                "event", what="slope", step=pending.index, model=model.index, place=pending.place, names=names,
                values={"ratios": [values[name] for name in names]},
            )

    def measured(self, model, calls, usual):
        """{name: slope over the gradient's square}, None where the loss is not computed again as it was."""
        parameters = {name: each for name, each in model.root.named_parameters() if each.grad is not None and bool((each.grad != 0).any())}
        alike = all(each.forward.model is model and each.known for each in calls) and not self.session.thrown
        plain = all(str(each.dtype) in ("torch.float32", "torch.float64") and not hasattr(each, "to_local") for each in parameters.values())
        distributed = self.torch.distributed
        several = distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1
        if not alike or not plain or several or not parameters:
            return None
        kept = self.state()
        try:
            begun = self.loss(calls)
            known = sum(each.value for each in calls)
            if begun is None or abs(begun - known) > SAME * max(abs(known), sum(float(each.weights.abs().sum()) for each in calls)):
                return None
            names = list(parameters)[:: max(1, math.ceil(len(parameters) / MOST))]
            size = max(abs(begun), 1e-3 * sum(float(each.weights.abs().sum()) for each in calls))
            found = {name: self.slope(calls, parameters[name], size, 1.0) for name in names}
            found = {name: ratio for name, ratio in found.items() if ratio is not None}
            for name, ratio in list(found.items()):
                if abs(ratio - usual) > NEAR * abs(usual):
                    # What bends within the step is no slope: half of it must tell nearly the same, and the two tell the limit.
                    half = self.slope(calls, parameters[name], size, 0.5)
                    if half is None or abs(half - ratio) > BENDS * max(abs(ratio), abs(usual)):
                        del found[name]
                    else:
                        found[name] = (4 * half - ratio) / 3
            return {name: ratio / usual for name, ratio in found.items()} or None
        finally:
            self.restore(kept)

    def slope(self, calls, parameter, size, share):
        """The difference of the loss over what its gradient promises; None where that is too little to be measured."""
        gradient, before = parameter.grad.detach(), parameter.detach().clone()
        norm = float(gradient.double().norm())
        far = MOST_MOVED * (float(before.double().norm()) + 1e-3 * before.numel() ** 0.5)
        moved = share * min(SHARE * size / norm, far)
        if moved * norm < LEAST * size:
            return None
        values = []
        try:
            for sign in (1, -1):
                parameter.data.copy_(before + sign * moved / norm * gradient)
                values.append(self.loss(calls))
        finally:
            parameter.data.copy_(before)
        return (values[0] - values[1]) / (2 * moved * norm)

    def loss(self, calls):
        out = 0.0
        for call in calls:
            value = self.again(call)
            if value is None:
                return None
            out += value
        return out

    def again(self, call):
        """The loss of a call, made again without gradients; None: its hidden states are not seen."""
        model, (method, module, args, kwargs, state) = call.forward.model, call.call
        watched, taken = model.body() or model.head, []
        if watched is None:
            return None
        if watched is model.head:
            handle = watched.register_forward_pre_hook(lambda _, given: taken.append(given[0]) if given else None)
        else:
            handle = watched.register_forward_hook(lambda _, given, out: taken.append(_calls.first_tensor(out)))
        self.session.enter_generating()
        try:
            self.restore(state)
            method(module, *args, **kwargs)
        finally:
            self.session.leave_generating()
            handle.remove()
        return self.value(call, taken[0]) if len(taken) == 1 and taken[0] is not None else None

    def value(self, call, hidden):
        forward = call.forward
        rows, columns = forward.ids.shape
        weight, bias = forward.model.weight()
        if weight is None or hidden.numel() != rows * columns * weight.shape[1]:
            return None
        h = hidden.reshape(rows * columns, -1)[(call.rows[0] * columns + call.rows[1]).to(hidden.device)].double()
        head = Head(weight, bias, forward.post or IDENTITY, self.torch.float64)
        targets = call.targets.to(h.device)
        _, lse = head.moment(h, call.tau)
        logprobs = head.logit(targets, h) / call.tau - lse
        return -float((call.weights.to(h.device) * logprobs).sum())

    def restore(self, state):
        self.torch.set_rng_state(state[0])
        if state[1] is not None:
            self.torch.cuda.set_rng_state(state[1])
