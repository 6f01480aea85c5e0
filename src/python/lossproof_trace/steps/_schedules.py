"""Learning rate schedulers: how often, and where, each is stepped between two steps of its optimiser."""

import functools
import weakref

from ..recording import _frames
from . import _held


class Call:
    """Calls of one scheduler since the latest step of its optimiser."""

    def __init__(self, scheduler):
        self.name = type(scheduler).__name__
        self.scheduler = weakref.ref(scheduler)
        self.calls = 0
        # Of those, behind a backward pass that no step of the optimiser has followed yet.
        self.behind_backward = 0
        self.places = []
        self.by_processes = False
        # It was told which epoch it is, or a metric.
        self.explicit = False

    def last(self):
        """The step or epoch that the schedule has come to; None: it does not say."""
        last = getattr(self.scheduler(), "last_epoch", None)
        return int(last) if isinstance(last, (int, float)) else None


def watch(session, torch, backwards):
    try:
        from torch.optim.lr_scheduler import LRScheduler
    except ImportError:
        return
    original = LRScheduler.__init__

    @functools.wraps(original)
    def __init__(self, *args, **kwargs):
        with session.guard("scheduler"):
            for owner in type(self).__mro__:
                if "step" in vars(owner) and not hasattr(vars(owner)["step"], "_lossproof_watched"):
                    _watch_step(session, owner, backwards)
        original(self, *args, **kwargs)
        with session.guard("scheduler"):
            _call_of(self)

    LRScheduler.__init__ = __init__
    # Those that are made of others do not call it.
    for owner in set(_all_of(LRScheduler)):
        if owner.__init__ is not __init__ and "step" in vars(owner):
            _watch_step(session, owner, backwards)


def _all_of(owner):
    return [owner] + [each for child in owner.__subclasses__() for each in _all_of(child)]


def _watch_step(session, owner, backwards):
    step = vars(owner)["step"]

    @functools.wraps(step)
    def watched(self, *args, **kwargs):
        with session.guard("scheduler"):
            _saw(self, backwards, bool(args or kwargs))
        return step(self, *args, **kwargs)

    watched._lossproof_watched = True
    owner.step = watched


def _saw(scheduler, backwards, explicit):
    # Schedulers step themselves when they are made, and those that they are made of.
    by = _frames.caller(2)
    if by.endswith("torch/optim/lr_scheduler.py"):
        return
    call = _call_of(scheduler)
    if call is None:
        return
    # What it is made of is stepped by it, in turn: only its own calls are the script's.
    for part in _parts(scheduler):
        (_calls_of(part) or {}).pop(id(part), None)
    call.calls += 1
    call.explicit = call.explicit or explicit
    # accelerate steps it once for each process, on purpose.
    call.by_processes = call.by_processes or by.endswith("accelerate/scheduler.py")
    call.behind_backward += backwards.since > 0
    place = _frames.place()
    if place is not None and place not in call.places and len(call.places) < 4:
        call.places.append(place)


def _parts(scheduler):
    return [each for part in getattr(scheduler, "_schedulers", ()) for each in (part, *_parts(part))]


def _calls_of(scheduler):
    """Those of the schedulers of its optimiser, by their ids. None: it has no optimiser."""
    optimizer = getattr(scheduler, "optimizer", None)
    optimizer = getattr(optimizer, "optimizer", optimizer)
    return None if optimizer is None else _held.of(optimizer).schedules


def _call_of(scheduler):
    calls = _calls_of(scheduler)
    if calls is None:
        return None
    key = id(scheduler)
    if key not in calls:
        calls[key] = Call(scheduler)
    return calls[key]


def told(held, session, passes):
    """Events of the calls before this step of its optimiser; counted from 0 again behind it."""
    for call in list(held.schedules.values()):
        session.write(
            "event",
            what="schedule",
            step=session.step,
            model=None,
            place=call.places[0] if call.places else None,
            names=call.places,
            values={
                "scheduler": call.name,
                "optimizer": held.index,
                "calls": call.calls,
                "last": call.last(),
                "behind_backward": call.behind_backward,
                "passes": passes,
                "by_processes": call.by_processes,
                "explicit": call.explicit,
            },
        )
        call.calls = call.behind_backward = 0
        call.places = []
