"""What the parts of the tracer share: where records go, how far the script is, and that no fault of the tracer is the script's.

For the parts, in one place:

    session.write(kind, **fields)   a record; tensors are encoded, NaN and infinity outside of them become null
    with session.guard("where"):    time is counted as the tracer's; exceptions become `trouble` records
    session.checkpoint()            outside of any guard, wherever a model is about to be called: ends the script (SystemExit)
                                    where its steps are done and it went on nevertheless
    session.step                    index of the optimiser step that a forward pass now belongs to
    session.looking                 the tracer itself is at work in this thread
    session.generating              depth of generate() calls of this thread; 0: outside
    session.grad_scale()            the factor that a gradient scaler put on the loss, 1.0 without
    session.modules_called          to be set when any torch module is called
    session.blind(what, sentence)   a `blind` record, once for each `what`
"""

import os
import threading
import time

from . import _devices
from ._ending import leave, watch_child
from ._writer import Writer

MODES = ("auto", "exact", "cheap")

# Records that those of other processes are put in order with.
TIMED = ("forward", "generate", "step")

# A fault that comes at every position would fill the disk; the first ones tell all.
MOST_TROUBLES = 20


class Session:
    def __init__(self, folder, mode="auto", wanted=2):
        self.folder = folder
        self.mode = mode if mode in MODES else "auto"
        self.wanted = wanted
        self.step = 0
        # Of `step`, those that the script really made: none that a gradient scaler skipped.
        self.done = 0
        self.modules_called = False
        # What models said that were not trained, of this step: forward/_teachers.py.
        self.spoken = []
        # The calls of torch.autograd.grad that are running, innermost last: [index, whether it reached a language model].
        self.grads = []
        # Of the backward pass that runs, what each call of a language model says that its loss is: forward/_passes.py.
        self.surprises = []
        self.ended = None
        # Held while the last records are written.
        self.ending = threading.RLock()
        self.times_raised = 0
        # Called instead of leaving, where a process is not its own to end: a worker of Ray (workers/_worker.py).
        self.leaving = None
        # The steps asked for were made by other processes, for which this one ends.
        self.done_elsewhere = False
        self.seconds = 0.0
        self.started = time.monotonic()
        self.vocabularies = {}
        # A model was called for training: at all, and since the last optimiser step.
        self.trained = False
        self.fresh = False
        # Forward passes whose gradients have arrived since the last step, with their models, and those thrown away again.
        self.arrived = {}
        self.thrown = []
        self.thrown_at = None
        self._model_of = {}
        # What torch.compile was called on, and whether it ever was with fullgraph=True.
        self.compiled = []
        # Something of that ran as it is written.
        self.uncompiled = False
        self.one_graph = False
        # Called with the session: at each training forward (and the model's index), and before the end is written.
        self.on_training = []
        # Called with the session and the step (steps/_optimiser.py): before the optimiser works, and behind it.
        self.before_step = []
        self.after_step = []
        # Called where the script clips gradients: with the session before it, and with (session, function's name, bound, what
        # it returned) behind it.
        self.before_clip = []
        self.after_clip = []
        self.on_ending = []
        # Looks at attention where rows hold several examples (forward/_packing.py).
        self.packing = None
        # Sees dropout by a function where nothing is trained (models/_dropout.py).
        self.dropping = None
        # Whether an optimiser holds any tensor of a module (steps/_optimiser.py).
        self.held = lambda module: False
        # Computes losses again, where that is asked for (steps/_slopes.py).
        self.slopes = None
        # What the script's optimisers hold.
        self.parameters = list
        # Of a data loader, the batch that was taken last (script/_batches.py), and what is made of each batch (twins/).
        self.batch = None
        self.change_batch = None
        # Index of the latest training forward pass, its ids and its mask.
        self.latest_forward = self.latest_ids = None
        # Follows the loops of the script's own that sample (sampling/_decoding.py), where it is there: asked at each forward pass.
        self.decoding = None
        self._generations = 0
        self._scale = None
        self._told = set()
        self._troubles = set()
        self._child = None
        self._everywhere = 0
        self._local = threading.local()
        self._writer = Writer(folder)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def begin(self):
        self._writer.open()

    def move(self, folder):
        """What is recorded from now on belongs to another trace."""
        self.folder = folder
        self._writer.move(folder)

    @property
    def who(self):
        """What this process is called: name and node, in its process record."""
        return self._writer.who

    @who.setter
    def who(self, who):
        self._writer.called(who)

    @property
    def file(self):
        """Name of this process's file, None where it has none."""
        return self._writer.name

    @property
    def opened(self):
        return self._writer.opened

    @property
    def rank(self):
        return self._writer.rank or 0

    # What is written

    def write(self, kind, **fields):
        if self.ended is not None:
            return
        record = {"kind": kind}
        record.update(fields)
        if kind in TIMED:
            # Of what is written later than it happened, somebody has said when it did.
            record.setdefault("time", time.time())
        if kind == "model":
            self.vocabularies[fields.get("model")] = fields.get("vocab_size")
        self._writer.write(record)
        if self._child != os.getpid():
            self._child = os.getpid()
            watch_child(self)
        if kind == "trained" and len(fields["rows"]) > 0:
            self.arrived[fields["forward"]] = self._model_of.get(fields["forward"])
        if kind == "forward" and fields.get("grad"):
            self._model_of[fields["forward"]] = fields.get("model")
            self.trained = self.fresh = True
            self.latest_forward, self.latest_ids = fields["forward"], (fields["input_ids"], fields["attention_mask"])
            for listener in self.on_training:
                with self.guard("training"):
                    listener(self, fields.get("model"))

    def blind(self, what, sentence):
        if what not in self._told:
            self._told.add(what)
            self.write("blind", what=what, sentence=sentence)

    def guard(self, where):
        return Guard(self, where)

    def trouble(self, where, error):
        import traceback

        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        key = (where, type(error).__name__, error.__traceback__.tb_lineno if error.__traceback__ else 0)
        if key in self._troubles or len(self._troubles) >= MOST_TROUBLES:
            return
        self._troubles.add(key)
        try:
            self.write("trouble", where=where, traceback=text)
        except Exception:  # noqa: BLE001 - what cannot be said is not worth a training run
            pass

    # How far the script is

    def throw_away(self, models):
        """The gradients of these models were set to nothing before any optimiser had them."""
        for forward in [forward for forward, model in self.arrived.items() if model in models]:
            self.thrown.append(forward)
            del self.arrived[forward]

    def spend(self):
        """A step is made. Returns what was thrown away before it: nothing where nothing arrived since, because then the
        gradients were put back by hand."""
        thrown = self.thrown if self.arrived else []
        self.arrived, self.thrown, self._model_of = {}, [], {}
        return thrown

    def checkpoint(self):
        if self.ended == "steps":
            leave(self)

    @property
    def generating(self):
        return getattr(self._local, "generating", 0) + self._everywhere

    def enter_generating(self, everywhere=False):
        """`everywhere`: an engine samples in a thread of its own."""
        if everywhere:
            self._everywhere += 1
        else:
            self._local.generating = getattr(self._local, "generating", 0) + 1

    def leave_generating(self, everywhere=False):
        if everywhere:
            self._everywhere -= 1
        else:
            self._local.generating -= 1

    @property
    def looking(self):
        """This thread is inside of a guard: what is called is called by the tracer."""
        return getattr(self._local, "depth", 0) > 0

    def next_generation(self):
        """Index of a `generate` record."""
        self._generations += 1
        return self._generations - 1

    def grad_scale(self):
        scale = self._scale
        return 1.0 if scale is None else float(scale)

    def in_grad(self):
        """Index of the call of torch.autograd.grad that is running, None where none is."""
        if not self.grads:
            return None
        self.grads[-1][1] = True
        return self.grads[-1][0]

    def set_grad_scale(self, scale):
        """A number, or a tensor of one element, read only when it is asked for; None: no scaler is at work."""
        self._scale = scale

    def _after_fork(self):
        self.ending = threading.RLock()
        self.seconds = 0.0
        self.started = time.monotonic()
        self._local = threading.local()
        self._everywhere = 0
        self._writer.after_fork()


class Guard:
    """Exceptions inside are the tracer's own: recorded, and the script goes on. SystemExit and the like pass. Where the script
    has its tensors made on another device by default, those of the tracer are the CPU's all the same."""

    __slots__ = ("session", "where", "began", "device")

    def __init__(self, session, where):
        self.session = session
        self.where = where

    def __enter__(self):
        local = self.session._local
        depth = getattr(local, "depth", 0)
        local.depth = depth + 1
        self.began = time.perf_counter() if depth == 0 else None
        self.device = _devices.on_cpu() if depth == 0 else None
        if self.device is not None:
            self.device.__enter__()
        return self

    def __exit__(self, kind, error, trace):
        session = self.session
        if self.device is not None:
            self.device.__exit__(kind, error, trace)
        session._local.depth = max(0, getattr(session._local, "depth", 1) - 1)
        if self.began is not None:
            session.seconds += time.perf_counter() - self.began
        if error is not None and isinstance(error, Exception):
            session.trouble(self.where, error)
            return True
        return False


_current = None


def current():
    """The session of this process; None where nothing is traced."""
    return _current


def use(session):
    global _current
    _current = session
