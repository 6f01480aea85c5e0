"""Optimiser steps: what the gradients were, whether parameters moved, and when enough steps are done.

Global hooks of torch.optim see every optimiser that derives from torch.optim.Optimizer, wrapped ones (accelerate, lr
schedulers, DeepSpeed around torch's) included, since those call one in the end.
"""

import functools
import os
import sys

from ..models import _grown, _models, _owners
from ..recording import _ending, _frames
from ..script import _added
from . import _clipping, _head_gradient, _held, _modes, _schedules, _tensors, _updates
from ._backwards import Backwards, as_they_were
from ._copies import Copies
from ._delivered import Delivered
from ._loading import Loads
from ._scalers import Scalers
from ._slopes import Slopes
from ._states import States

# A first step without gradients may be made on purpose, to please a learning rate's schedule; not several.
IDLE_STEPS = 2
# So many steps that a scaler left out, and not one that it did not: it will not be otherwise.
MOST_SKIPPED = 64
# A finding names a few; the rest are counted.
MOST_NAMED = 256


def install(session, torch):
    _held.watch(torch)
    backwards, scalers = Backwards(session, torch), Scalers(session)
    steps = Steps(session, torch, backwards, scalers)
    try:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
    except ImportError:
        session.blind("optimiser", "This torch is too old to report optimiser steps: use torch 2.0 or later.")
        return
    # A compiled step breaks its graph for these; where the script insists on one graph, that would fail.
    apart = getattr(torch, "_disable_dynamo", lambda function: function)

    @apart
    def before(optimizer, args, kwargs):
        steps.before(optimizer, args, kwargs)

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
    backwards.watch()
    scalers.watch(torch, steps.skip)
    _schedules.watch(session, torch, backwards)
    _clipping.watch(session, torch, backwards, scalers)
    steps.loads.watch()
    if os.environ.get("LOSSPROOF_TRACE_SLOPES") == "1":
        session.slopes = Slopes(session, torch)
    session.on_training.append(steps.training)
    session.held = lambda module: bool(_held.holders(list(module.parameters())))
    session.parameters = lambda: [each for optimizer, _ in _held.every() for each in _held.parameters_of(optimizer)]
    _watch_zeroing(session, torch.optim.Optimizer, _held.parameters_of)
    _watch_zeroing(session, torch.nn.Module, lambda module: list(module.parameters()))


def install_pretrained(session, module):
    """transformers.modeling_utils is imported."""
    _grown.install(session, module.PreTrainedModel)
    for steps in Steps.made:
        steps.loads.watch_pretrained(module)


class Pending:
    """A step that was begun. `frame` is the call of it, to tell steps inside of it (`depth`) from one after it failed."""

    def __init__(self, frame, optimizer):
        self.frame = frame
        self.optimizer = optimizer
        self.depth = 0
        self.models = []
        self.parameters = []
        # The optimiser's parameters, and behind them what else its models have; norms of the gradients of all of them.
        self.measured = []
        self.norms = []
        self.norm = None
        self.rates = []
        self.samples = None
        self.labelled = []
        self.skipped = False
        # What listeners have found out for the record.
        self.told = {}
        self.copies = False
        self.closure = False
        self.engine = False
        self.place = None
        self.index = 0


class Steps:
    made = []

    def __init__(self, session, torch, backwards, scalers):
        self.session = session
        self.torch = torch
        self.backwards = backwards
        self.scalers = scalers
        self.copies = Copies(session, torch)
        self.loads = Loads(session, torch)
        self.states = States(session, torch)
        self.delivered = Delivered(session, torch, backwards)
        self.pending = None
        # Optimisers that made the latest step: others that follow without a forward pass between belong to it.
        self.together = []
        # Steps without any gradient, while no language model was called.
        self.idle = 0
        self.skipped = 0
        # Models that were called for training at all, and since the latest step.
        self.begun = set()
        self.called = set()
        Steps.made.append(self)

    def training(self, session, index):
        """A training forward pass of a model has been made."""
        model = next((each for each in _models.known() if each.index == index), None)
        if model is None or model.root is None:
            return
        with self.torch.no_grad():
            if index not in self.begun:
                self.begun.add(index)
                with session.guard("begin of a training"):
                    self.loads.told(model)
                with session.guard("begin of a training"):
                    _modes.told(session, self.torch, model)
                with session.guard("added tokens"):
                    _grown.told(session, model, _added.known)
            if index not in self.called or session.thrown:
                self.copies.called(model, index in self.called)
            if index not in self.called:
                with session.guard("what a backward pass delivers"):
                    self.delivered.training(model)
            self.called.add(index)

    def before(self, optimizer, args, kwargs, engine=None):
        """`engine`: (frame, models and tensors, functions) of an engine's own step, within which its optimisers make theirs."""
        session = self.session
        session.checkpoint()
        with session.guard("optimiser step"):
            if self.pending is not None and _is_running(self.pending.frame):
                self.pending.depth += 1
                return
            self.pending = None
            frame, models, tensors = engine or (_step_frame(), None, None)
            pending = self.look_at(optimizer, frame, models, tensors)
            # Its tensors are partitions of the model's: of the gradients that they get, nothing can be told by tensor.
            pending.engine = engine is not None
            # A closure computes the gradients inside of the step.
            pending.closure = any(callable(argument) for argument in (*args, *kwargs.values()))
            with self.torch.no_grad():
                self.measure(pending)
                pending.samples = _tensors.Samples(self.torch, pending.measured, self.strongest)
            if pending.norm is None and not _models.known():
                self.idle += 1
                if self.idle == IDLE_STEPS:
                    _owners.find_sleeping(session, pending.parameters)
                    pending.models = list(_models.models_of(pending.parameters))
            self.pending = pending
            with self.torch.no_grad():
                if pending.models and session.fresh and not pending.closure:
                    with session.guard("what a backward pass delivers"):
                        self.delivered.told(pending)
                if pending.models and not pending.engine:
                    self.witness(pending)
            self.tell(session.before_step, pending)

    def look_at(self, optimizer, frame, models=None, tensors=None):
        pending = Pending(frame, optimizer)
        pending.place = _frames.place()
        pending.parameters = (tensors or _held.parameters_of)(optimizer)
        pending.rates = _updates.learning_rates(optimizer)
        pending.models = list(_models.models_of(pending.parameters) if models is None else models())
        if not pending.models:
            pending.models = self.copies.models_of(pending.parameters)
            pending.copies = bool(pending.models)
        pending.index = self.session.step - 1 if self.belongs(optimizer) else self.session.step
        return pending

    def belongs(self, optimizer):
        """One for the matrices, one for the rest: a step of the model is what all of its optimisers do."""
        return not self.session.fresh and self.session.step > 0 and id(optimizer) not in self.together

    def measure(self, pending):
        # What other optimisers hold is measured when they step, or not at all; once for a step, not for each of them.
        others = [] if pending.engine or self.belongs(pending.optimizer) else _updates.others(pending.parameters, pending.models)
        pending.measured = _unique(pending.parameters) + others
        pending.norms, self.strongest = _tensors.norms(self.torch, pending.measured)
        pending.norm = _tensors.total(pending.norms[: len(pending.measured) - len(others)])

    def witness(self, pending):
        """What is known of the gradients only now: whose they are, and what was done to them."""
        session, backwards = self.session, self.backwards
        held = _held.of(pending.optimizer)
        _updates.label(session, pending)
        _schedules.told(held, session, backwards.since)
        roots = [model.root for model in _models.known() if model.root is not None]
        names = {id(parameter): name for root in roots for name, parameter in root.named_parameters()}

        def event(what, tensors, **values):
            told = [names[id(each)] for each in tensors if id(each) in names]
            if told or not tensors:
                session.write(
                    "event",
                    what=what,
                    step=pending.index,
                    model=pending.models[0],
                    place=pending.place,
                    names=told[:MOST_NAMED],
                    values={**values, "tensors": len(told)},
                )

        with session.guard("optimiser state"):
            self.states.told(pending, held)
        if pending.closure:
            return
        if held.left:
            event("left-over", held.left, of=len(pending.labelled))
        elif held.gradients and held.backwards == backwards.count and backwards.depth == 0:
            again = as_they_were(self.torch, held.gradients)
            if again:
                event("again", again)
        scale = 1.0 if self.scalers.stepping else self.scalers.still_on([pending.optimizer])
        if scale != 1.0:
            event("scaled", [], scale=scale)
        changed = backwards.changed()
        if changed is not None and (abs(changed[0] - 1) > 1e-3 or changed[1] < 0.999):
            event("reworked", [], factor=changed[0], cosine=changed[1], **self.by_hand(backwards.before_clip or changed))
        own = {id(p) for p in pending.parameters}
        strangers = [p for p in pending.parameters if id(p) not in names and p.grad is None and p.requires_grad]
        if strangers and not pending.copies:
            free = [p for p, norm in zip(pending.measured, pending.norms) if norm and id(p) not in own]
            # Of tensors that are held by nobody at all.
            free = [p for p in free if not _held.holders([p])]
            event("strangers", free, count=len(strangers), shapes=[list(p.shape) for p in strangers[:4]])
        _clipping.told(session, pending, backwards)
        if session.fresh:
            _head_gradient.told(session, self.torch, pending, backwards, held)
            if session.slopes is not None:
                with session.guard("slopes"):
                    session.slopes.step(pending, backwards.changed())

    def by_hand(self, changed):
        """What the script multiplied all gradients by, behind the last backward pass and before clipping."""
        factor, cosine = changed
        return {"by": factor} if cosine > 0.9999 and factor > 0 and self.scalers.latest is None else {}

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
                if pending.closure:
                    # And may call the model for the first time.
                    pending.models = pending.models or list(_models.models_of(pending.parameters))
                    self.measure(pending)
                moved = {} if pending.skipped else pending.samples.moved()
                held = {id(parameter) for parameter in pending.parameters}
                changed = any(flag and id(pending.measured[index]) in held for index, flag in moved.items())
            self.tell(session.after_step, pending)
            self.record(pending, changed, moved)
            with self.torch.no_grad():
                self.backwards.stepped(_held.of(optimizer), pending.parameters)
                if pending.models:
                    self.copies.stepped(pending)
                    with session.guard("optimiser state"):
                        self.states.stepped(_held.of(optimizer), optimizer, pending.parameters)
        self.stop()

    def stop(self):
        session = self.session
        enough = session.done >= session.wanted or (session.done == 0 and self.skipped >= MOST_SKIPPED)
        if session.wanted > 0 and enough and session.ended is None:
            _ending.stop(session)

    def tell(self, listeners, pending):
        for listener in listeners:
            with self.session.guard("optimiser step"):
                listener(self.session, pending)

    def record(self, pending, changed, moved=None):
        session, optimizer = self.session, pending.optimizer
        fields = {
            "optimizer": type(optimizer).__name__,
            "models": pending.models,
            "gradient_norm": pending.norm,
            "changed": changed,
            "learning_rates": pending.rates,
        }
        for name in ("skipped", "copies", "closure"):
            if getattr(pending, name):
                fields[name] = True
        if pending.place is not None:
            fields["place"] = pending.place
        fields.update(pending.told)
        if not pending.models:
            session.write("step", step=session.step, **fields)
            return
        if moved is not None and pending.labelled and not pending.skipped:
            _updates.write(session, pending, moved)
        if self.belongs(optimizer):
            self.together.append(id(optimizer))
            session.write("step", step=session.step - 1, **fields)
            return
        self.together = [id(optimizer)]
        session.fresh = False
        fields["backwards"], fields["backward_places"] = self.backwards.since, self.backwards.places
        if session.thrown:
            fields["zeroed"] = session.thrown_at or ""
        thrown = session.spend()
        if thrown:
            fields["dropped"] = thrown
        session.write("step", step=session.step, **fields)
        session.step += 1
        self.called = set()
        self.backwards.spent()
        del _clipping.made[:]
        if pending.skipped:
            self.skipped += 1
        else:
            session.done += 1

    def skip(self, optimizer):
        """A gradient scaler found an infinite gradient: the optimiser is not called, but the gradients are spent."""
        pending = self.look_at(optimizer, None)
        pending.skipped = True
        self.record(pending, False)
        self.stop()


def _unique(parameters):
    return list({id(parameter): parameter for parameter in parameters}.values())


def _watch_zeroing(session, owner, parameters_of):
    """Gradients that are thrown away (a batch skipped for its norm, a first pass to claim memory) train nothing."""
    zero_grad = owner.zero_grad

    @functools.wraps(zero_grad)
    def watched(self, *args, **kwargs):
        with session.guard("zero_grad"):
            parameters = parameters_of(self)
            _held.forget_gradients(parameters)
            if session.arrived:
                models = _models.models_of(parameters)
                if models:
                    session.thrown_at = _frames.place()
                session.throw_away(models)
        return zero_grad(self, *args, **kwargs)

    owner.zero_grad = watched


def _compiling(torch):
    compiler = getattr(torch, "compiler", None)
    return compiler is not None and hasattr(compiler, "is_compiling") and compiler.is_compiling()


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
