"""Optimiser steps: what the gradients were, whether parameters moved, and when enough steps are done.

Global hooks of torch.optim see every optimiser that derives from torch.optim.Optimizer, wrapped ones (accelerate, lr
schedulers, DeepSpeed around torch's) included, since those call one in the end.
"""

import functools
import math
import os
import sys

from ..models import _models, _owners
from ..recording import _ending

# Elements that are read at a time: bounds what a norm in another precision takes beside the parameters (32 MiB).
CHUNK = 2**22
# Elements of each parameter that are compared before and after, spread evenly. With tiny updates in bfloat16 only the
# small weights move, some percent of them: of so many, in every parameter, some do.
SAMPLES = 4096
# A first step without gradients may be made on purpose, to please a learning rate's schedule; not several.
IDLE_STEPS = 2
# Rows of a sparse gradient that are compared.
SPARSE_ROWS = 16


# The one of this process, for engines that make steps of their own.
STEPS = []


def install(session, torch):
    steps = Steps(session, torch)
    STEPS.append(steps)
    try:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
    except ImportError:
        session.blind("optimiser", "This torch is too old to tell of optimiser steps: torch 2.0 or later does.")
        return
    # A compiled step breaks its graph for these; where the script insists on one graph, that would fail.
    apart = getattr(torch, "_disable_dynamo", lambda function: function)

    @apart
    def before(optimizer, args, kwargs):
        steps.before(optimizer)

    @apart
    def after(optimizer, args, kwargs):
        steps.after(optimizer, args, kwargs)

    def before_step(optimizer, args, kwargs):
        if not session.one_graph or not _compiling(torch):
            before(optimizer, args, kwargs)

    def after_step(optimizer, args, kwargs):
        if not session.one_graph or not _compiling(torch):
            after(optimizer, args, kwargs)

    register_optimizer_step_pre_hook(before_step)
    register_optimizer_step_post_hook(after_step)
    _watch_scalers(session, torch, steps)
    _watch_zeroing(session, torch.optim.Optimizer, _parameters_of)
    _watch_zeroing(session, torch.nn.Module, lambda module: list(module.parameters()))


class Pending:
    """A step that was begun. `frame` is the call of it, to tell steps inside of it (`depth`) from one after it failed."""

    def __init__(self, frame, optimizer):
        self.frame = frame
        self.optimizer = optimizer
        self.depth = 0
        self.models = []
        self.parameters = []
        self.norm = None
        self.samples = []
        self.skipped = False
        # What listeners have found out for the record.
        self.told = {}


class Steps:
    def __init__(self, session, torch):
        self.session = session
        self.torch = torch
        self.pending = None
        # Optimisers that made the latest step: others that follow without a forward pass between belong to it.
        self.together = []
        # Steps without any gradient, while no language model was called.
        self.idle = 0

    def before(self, optimizer, engine=None):
        """`engine`: (frame, models and tensors, functions) of an engine's own step, within which its optimisers make theirs."""
        session = self.session
        session.checkpoint()
        with session.guard("optimiser step"):
            if self.pending is not None and _is_running(self.pending.frame):
                self.pending.depth += 1
                return
            self.pending = None
            frame, models, tensors = engine or (_step_frame(), None, _parameters_of)
            pending = Pending(frame, optimizer)
            pending.parameters = tensors(optimizer)
            pending.models = list(_models.models_of(pending.parameters) if models is None else models())
            with self.torch.no_grad():
                pending.norm, strongest = measure(self.torch, pending.parameters)
                pending.samples = samples(self.torch, pending.parameters, strongest)
            if pending.norm is None and not _models.known():
                self.idle += 1
                if self.idle == IDLE_STEPS:
                    _owners.find_sleeping(session, pending.parameters)
                    pending.models = list(_models.models_of(pending.parameters))
            self.pending = pending
            self.tell(session.before_step, pending)

    def after(self, optimizer, args, kwargs):
        session, pending = self.session, self.pending
        if pending is None:
            return
        if pending.depth > 0:
            pending.depth -= 1
            return
        self.pending = None
        if pending.optimizer is not optimizer:
            return
        with session.guard("optimiser step"):
            pending.skipped = pending.skipped or _found_infinite(optimizer)
            with self.torch.no_grad():
                if any(callable(argument) for argument in (*args, *kwargs.values())):
                    # A closure computes the gradients inside of the step.
                    pending.norm, _ = measure(self.torch, pending.parameters)
                    # And may call the model for the first time.
                    pending.models = pending.models or list(_models.models_of(pending.parameters))
                changed = not pending.skipped and differs(self.torch, pending)
            self.tell(session.after_step, pending)
            self.record(pending, changed)
        if session.wanted > 0 and session.done >= session.wanted and session.ended is None:
            _ending.stop(session)

    def tell(self, listeners, pending):
        for listener in listeners:
            with self.session.guard("optimiser step"):
                listener(self.session, pending)

    def record(self, pending, changed):
        session, optimizer = self.session, pending.optimizer
        fields = {
            "optimizer": type(optimizer).__name__,
            "models": pending.models,
            "gradient_norm": pending.norm,
            "changed": changed,
            "learning_rates": learning_rates(optimizer),
        }
        if pending.skipped:
            fields["skipped"] = True
        fields.update(pending.told)
        if not pending.models:
            session.write("step", step=session.step, **fields)
            return
        if not session.fresh and session.step > 0 and id(optimizer) not in self.together:
            # One for the matrices, one for the rest: a step of the model is what all of its optimisers do.
            self.together.append(id(optimizer))
            session.write("step", step=session.step - 1, **fields)
            return
        self.together = [id(optimizer)]
        session.fresh = False
        thrown = session.spend()
        if thrown:
            fields["dropped"] = thrown
        session.write("step", step=session.step, **fields)
        session.step += 1
        if not pending.skipped:
            session.done += 1

    def skip(self, optimizer):
        """A gradient scaler found an infinite gradient: the optimiser is not called, but the gradients are spent."""
        pending = Pending(None, optimizer)
        pending.parameters = _parameters_of(optimizer)
        pending.models = list(_models.models_of(pending.parameters))
        pending.skipped = True
        self.record(pending, False)


def _parameters_of(optimizer):
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def _watch_zeroing(session, owner, parameters_of):
    """Gradients that are thrown away (a batch skipped for its norm, a first pass to claim memory) train nothing."""
    zero_grad = owner.zero_grad

    @functools.wraps(zero_grad)
    def watched(self, *args, **kwargs):
        if session.arrived:
            with session.guard("zero_grad"):
                session.throw_away(_models.models_of(parameters_of(self)))
        return zero_grad(self, *args, **kwargs)

    owner.zero_grad = watched


def _compiling(torch):
    compiler = getattr(torch, "compiler", None)
    return compiler is not None and hasattr(compiler, "is_compiling") and compiler.is_compiling()


def learning_rates(optimizer):
    rates = [float(group["lr"]) for group in optimizer.param_groups if "lr" in group]
    return [rate for rate in rates if math.isfinite(rate)]


def measure(torch, parameters):
    """Norm over all gradients, null where it is not finite or nothing has any; and of each, its strongest chunk's start."""
    norms, places = [], []
    for index, parameter in enumerate(parameters):
        flat = flat_of(torch, parameter.grad)
        if flat is None:
            continue
        for start in range(0, flat.numel(), CHUNK):
            chunk = flat[start : start + CHUNK]
            wide = torch.float64 if chunk.dtype == torch.float64 else torch.float32
            norms.append(torch.linalg.vector_norm(chunk.to(wide)).double().reshape(1))
            places.append((index, start))
    # One transfer for each device, not one for each parameter.
    values = [0.0] * len(norms)
    for device in {norm.device for norm in norms}:
        at = [i for i, norm in enumerate(norms) if norm.device == device]
        for i, value in zip(at, torch.cat([norms[i] for i in at]).tolist()):
            values[i] = value
    strongest = {}
    for (index, start), value in zip(places, values):
        if value > strongest.get(index, (0.0, 0))[0]:
            strongest[index] = (value, start)
    total = math.sqrt(sum(value * value for value in values)) if values else None
    finite = total is not None and math.isfinite(total)
    return (total if finite else None), {index: start for index, (_, start) in strongest.items()}


def samples(torch, parameters, strongest):
    """Of each parameter: (its index, positions, values there now). One where the gradient is largest is among them."""
    taken = []
    for index, parameter in enumerate(parameters):
        flat = flat_of(torch, parameter)
        if flat is None or flat.numel() == 0:
            continue
        positions = torch.arange(0, flat.numel(), max(1, flat.numel() // SAMPLES), device=flat.device)
        gradient = parameter.grad
        if gradient is not None and gradient.is_sparse:
            rows = gradient.coalesce().indices()[0][:SPARSE_ROWS]
            positions = torch.cat([positions, rows.to(flat.device) * (flat.numel() // parameter.shape[0])])
        elif index in strongest:
            start = strongest[index]
            chunk = flat_of(torch, gradient)[start : start + CHUNK]
            positions = torch.cat([positions, start + chunk.abs().argmax().reshape(1)])
        taken.append((index, positions, flat.index_select(0, positions)))
    return taken


def differs(torch, pending):
    for index, positions, values in pending.samples:
        flat = flat_of(torch, pending.parameters[index])
        if flat is None or flat.device != values.device or flat.numel() <= int(positions.max()):
            return True
        now = flat.index_select(0, positions)
        if not bool(((now == values) | ((now != now) & (values != values))).all()):
            return True
    return False


def flat_of(torch, tensor):
    """The elements as they lie in memory, without a copy where they lie side by side; of a sharded one, this rank's."""
    if tensor is None:
        return None
    tensor = tensor.detach()
    if hasattr(tensor, "to_local"):
        tensor = tensor.to_local()
    if tensor.is_sparse:
        tensor = tensor.coalesce().values()
    if not tensor.is_floating_point() or tensor.is_meta:
        return None
    if tensor.is_contiguous():
        return tensor.view(-1)
    order = sorted(range(tensor.dim()), key=lambda axis: -tensor.stride(axis))
    return tensor.permute(order).reshape(-1)


def _step_frame():
    """The call of step() that the hooks are called from: torch's wrapper around it."""
    at = sys._getframe(2)
    while at is not None and not at.f_code.co_filename.endswith(os.path.join("optim", "optimizer.py")):
        at = at.f_back
    return at


def _is_running(frame):
    at = sys._getframe(2)
    while at is not None:
        if at is frame:
            return True
        at = at.f_back
    return False


def _found_infinite(optimizer):
    """Fused optimisers are called by the scaler in any case, and skip by themselves."""
    found = getattr(optimizer, "found_inf", None)
    return found is not None and float(found) > 0


def _watch_scalers(session, torch, steps):
    scaler = getattr(getattr(torch, "amp", None), "GradScaler", None)
    if scaler is None:
        scaler = torch.cuda.amp.GradScaler
    scale, step, update = scaler.scale, scaler.step, scaler.update

    @functools.wraps(scale)
    def watched_scale(self, outputs):
        scaled = scale(self, outputs)
        with session.guard("gradient scaler"):
            session.set_grad_scale(getattr(self, "_scale", None) if self.is_enabled() else None)
        return scaled

    @functools.wraps(step)
    def watched_step(self, optimizer, *args, **kwargs):
        result = step(self, optimizer, *args, **kwargs)
        with session.guard("gradient scaler"):
            inner = getattr(optimizer, "optimizer", optimizer)
            if self.is_enabled() and not getattr(inner, "_step_supports_amp_scaling", False):
                state = self._per_optimizer_states.get(id(optimizer)) or {}
                if sum(float(found) for found in state.get("found_inf_per_device", {}).values()) > 0:
                    steps.skip(inner)
        return result

    @functools.wraps(update)
    def watched_update(self, *args, **kwargs):
        session.set_grad_scale(None)
        return update(self, *args, **kwargs)

    scaler.scale, scaler.step, scaler.update = watched_scale, watched_step, watched_update
