"""Sees the calls of torch modules: `nn.Module.__call__` is wrapped once, and all that is not a language model passes through.

Not torch's global hooks: those have no keyword arguments before a call, slow every module down, and warn of compiled ones.
The wrapper is installed before torch's compiler is imported, which then takes it for the original: compiled graphs skip it,
and frames that are not compiled go through it.
"""

import sys
import threading

import torch
from torch import nn

from ..models import _dropout, _models
from . import _arguments, _direct, _heads, _packing

# Kinds without parts: no model, and called most of all.
LEAVES = (nn.Linear, nn.Embedding, nn.LayerNorm, nn.Dropout, nn.Identity)


class Local(threading.local):
    frame = None
    """The modules being called around the present one that carry others, outermost first."""
    through = ()
    """Depth of calls that were looked at, and are of no language model that can be traced."""
    declined = 0
    """Depth of calls of models that predict something else than the next token: what is inside of them is no model either."""
    foreign = 0


class Frame:
    """A call that is, or may turn out to be, one of a language model."""

    def __init__(self, module, model, named, ids):
        self.module = module
        self.model = model
        self.named = named
        self.ids = ids
        """A language model was called inside: this one only carries it."""
        self.claimed = False
        """id of a module to what it is; None: all calls inside are looked at."""
        self.parts = None
        self.forward = None
        self.hidden = None
        """id to module: what may be its head, of a model written by hand; None: not known before the ids are looked up."""
        self.heads = {}
        """What the latest of several that may be the head were called with, and gave."""
        self.latest = []
        """Attention lets an example of its rows see those before it: _packing.py."""
        self.across = None
        """The largest probability of dropout by a function, without gradients: models/_dropout.py."""
        self.dropped = 0.0
        """id of an embedding of positions, of a model written by hand."""
        self.seats = ()
        """Calls inside whose head is not known yet: _guesses.py."""
        self.inner = []
        """How it is made again, where that is asked for: steps/_slopes.py."""
        self.call = None
        self.seated = False


"""In place of a Frame."""
FOREIGN = object()


def install(session, make):
    """make(session, frame): the Forward of a call, in _install.py."""
    original = nn.Module.__call__
    local = Local()
    watcher = Watcher(session, make, original, local)
    session.packing = _packing.Packing(session, local)
    session.dropping = _dropout.Functions(session, local)
    is_compiling = torch.compiler.is_compiling if hasattr(torch, "compiler") else (lambda: False)

    def _wrapped_call_impl(self, *args, **kwargs):
        if is_compiling():
            return original(self, *args, **kwargs)
        frame = local.frame
        if frame is None:
            if session.ended is not None:
                return original(self, *args, **kwargs)
            if isinstance(self, nn.Embedding):
                with session.guard("direct call"):
                    watcher.direct.looked_up(self, args, kwargs)
                frame = local.frame
            if frame is None:
                if type(self) in LEAVES:
                    return original(self, *args, **kwargs)
                return watcher.outer(self, args, kwargs)
        if frame.parts is not None and id(self) not in frame.parts:
            return original(self, *args, **kwargs)
        return watcher.inner(frame, self, args, kwargs)

    nn.Module.__call__ = _wrapped_call_impl
    keep_from_compiler(_wrapped_call_impl)
    return watcher


def keep_from_compiler(*functions):
    """torch's compiler looks at every Python frame below a compiled call. Those of the tracer are none of its business;
    the frames below them are."""
    skip_code = skipper()
    if skip_code is None:
        return
    found = list(functions)
    tracer = __package__.partition(".")[0]
    for name, module in list(sys.modules.items()):
        if module is not None and name.startswith(tracer + "."):
            for thing in list(vars(module).values()):
                found += list(vars(thing).values()) if isinstance(thing, type) else [thing]
    for thing in found:
        code = getattr(getattr(thing, "fget", thing), "__code__", None)
        if code is not None and tracer in code.co_filename:
            skip_code(code)


def skipper():
    """skip_code(code) of this torch, without an import of its compiler; None: it has none."""
    try:
        from torch._C._dynamo import eval_frame
    except ImportError:
        return None
    if hasattr(eval_frame, "skip_code"):
        return eval_frame.skip_code
    try:
        action = eval_frame._FrameAction
        strategy = eval_frame._FrameExecStrategy(action.SKIP, action.DEFAULT)
        return lambda code: eval_frame.set_code_exec_strategy(code, strategy)
    except (AttributeError, TypeError):
        return None


class Watcher:
    def __init__(self, session, make, original, local):
        import weakref

        self.session = session
        self.make = make
        self.original = original
        self.local = local
        self.kinds = weakref.WeakKeyDictionary()
        self.direct = _direct.Direct(self)

    def outer(self, module, args, kwargs):
        session = self.session
        session.modules_called = True
        if session.generating or not _arguments.has_ids(args, kwargs):
            return self.original(module, *args, **kwargs)
        return self.maybe(module, args, kwargs)

    def inner(self, frame, module, args, kwargs):
        if frame.parts is None and not frame.claimed:
            if type(module) not in LEAVES and _arguments.has_ids(args, kwargs):
                result = self.maybe(module, args, kwargs)
            else:
                result = self.original(module, *args, **kwargs)
            with self.session.guard("inside"):
                self.saw(frame, module, args, kwargs, result)
            return result
        if frame.claimed:
            return self.original(module, *args, **kwargs)
        part = frame.parts[id(module)]
        result = self.original(module, *args, **kwargs)
        with self.session.guard("inside"):
            if part == "body":
                frame.forward.saw_hidden(first_tensor(result))
            else:
                frame.forward.saw_head(argument(args, kwargs), first_tensor(result))
        return result

    def saw(self, frame, module, args, kwargs, result):
        """Inside of a model that is written by hand: its head, and the last hidden states before it."""
        if frame.ids is None or frame.claimed:
            return
        tensor = result if isinstance(result, torch.Tensor) else None
        if id(module) in frame.seats and type(module).forward is nn.Embedding.forward:
            # What is looked up is the position that each token has, whatever it was counted over and by whom. A class of its own
            # may be handed something else, such as the ids.
            frame.seated = True
            frame.named["position_ids"] = argument(args, kwargs)
        if isinstance(module, nn.Embedding):
            _heads.looked_up(frame, module, argument(args, kwargs))
        elif id(module) in frame.heads and len(frame.heads) > 1:
            _heads.called(frame, module, argument(args, kwargs), first_tensor(result))
        elif id(module) in frame.heads:
            if frame.forward is None:
                frame.forward = self.make(self.session, frame, head=module)
                frame.forward.saw_hidden(frame.hidden)
            frame.forward.saw_head(argument(args, kwargs), first_tensor(result))
        elif tensor is not None and tensor.ndim == 3 and tensor.is_floating_point():
            if tensor.shape[:2] == frame.ids.shape:
                _heads.went_on(frame, tensor)
                frame.hidden = tensor

    def kind(self, module):
        known = self.kinds.get(module)
        if known is None:
            known = "plain"
            with self.session.guard("models"):
                if _models.watched(module) is not None:
                    return "candidate"
                core = _models.carried(module)
                if _models.is_hugging_face(core):
                    known = "hf" if core is module or compiled(module) or _models.adapted(module) else "carrier"
                elif _models.embeddings(module) or _models.tables(module):
                    known = "candidate"
                self.kinds[module] = known
        return known

    def maybe(self, module, args, kwargs, call=None):
        """A call with ids of a module: of a language model, of what carries one, or of anything else. `call`: a method that
        the script calls itself, in place of the module."""
        kind = "plain" if self.local.foreign else self.kind(module)
        method, call = call, call or self.original
        if kind == "plain":
            return call(module, *args, **kwargs)
        self.session.checkpoint()
        if getattr(module, "_is_replica", False):
            self.session.blind(
                "data-parallel",
                "torch.nn.DataParallel copies the model for each device; the copies are not traced. Run on one device, or "
                "with torchrun.",
            )
            return self.declined(call, module, args, kwargs)
        frame = None
        with self.session.guard("call"):
            frame = self.enter(module, kind, args, kwargs, method)
        if frame is None or frame is FOREIGN:
            return self.declined(call, module, args, kwargs, foreign=frame is FOREIGN)
        if self.session.slopes is not None and self.session.slopes.wants():
            frame.call = (call, module, args, kwargs, self.session.slopes.state())
        local = self.local
        before, through = local.frame, local.through
        local.frame, local.through = frame, through + (module,)
        try:
            result = call(module, *args, **kwargs)
        finally:
            local.frame, local.through = before, through
        with self.session.guard("return"):
            self.leave(frame, before, result)
        return result

    def declined(self, call, module, args, kwargs, foreign=False):
        self.local.declined += 1
        self.local.foreign += foreign
        try:
            return call(module, *args, **kwargs)
        finally:
            self.local.declined -= 1
            self.local.foreign -= foreign

    def enter(self, module, kind, args, kwargs, method=None):
        """The Frame of a call; None: none that is known; FOREIGN: one that is known to be none."""
        session = self.session
        core = _models.carried(module)
        session.dropping.called(core)
        named = _arguments.bound(core.forward if method is None else method.__get__(core), args, kwargs)
        if kind == "carrier":
            return Frame(module, None, {}, None)
        if kind == "hf":
            why = _models.causal(core)
            if why is not None:
                session.blind(why, "%s is no causal language model; its training is not traced." % type(core).__name__)
                return FOREIGN
            model = _models.find(core) or _models.hugging_face(session, core)
            if module is not core and _models.adapted(module):
                model.outer.add(module)
                self.virtual(model, module)
            frame = Frame(module, model, named, _arguments.ids_of(named))
            frame.through = self.local.through + (module, core)
            frame.forward = self.make(session, frame)
            parts = {id(model.head): "head", id(model.body()): "body"} if frame.forward is not None else {}
            parts.pop(id(None), None)
            frame.parts = parts
            return frame
        entry = _models.watched(core)
        ids = _arguments.ids_of(named, entry[1] if entry is not None else None)
        if ids is None or ids.device.type == "meta":
            return None
        frame = Frame(module, None, named, ids)
        frame.through = self.local.through + (module, core)
        if entry is not None and entry[0] is not None:
            frame.heads = {id(entry[0]): entry[0]}
        else:
            _heads.expect(frame, core)
        frame.seats = _models.seats(core)
        if compiled(module):
            # To look at a call inside would have the compiler look at the tracer, and then leave all below it uncompiled.
            frame.parts = {}
        return frame

    def virtual(self, model, module):
        count = _models.virtual_tokens(module)
        if count > 0:
            self.session.blind(
                "virtual-tokens",
                "%s puts %d virtual tokens before each row (PEFT's prompt tuning): the model inside sees no row of the "
                "script's own, and what is trained on them is not told." % (type(module).__name__, count),
            )

    def leave(self, frame, before, result):
        if before is not None:
            before.dropped = max(before.dropped, frame.dropped)
        if before is not None and before.parts is None:
            before.claimed = before.claimed or frame.claimed or frame.model is not None
        if frame.model is None and not frame.claimed and frame.ids is not None:
            _heads.settle(self, frame, result)
            frame.forward = self.make(self.session, frame, result=result) if frame.forward is None else frame.forward
            if frame.forward is not None and frame.forward.model is not None and before is not None:
                before.claimed = True
            self.outermost(frame, before)
        if frame.forward is not None:
            frame.forward.returned(result)

    def outermost(self, frame, before):
        """Of calls around each other whose heads are not known, the outermost speaks for all."""
        if frame.forward is not None:
            for inner in frame.inner:
                inner.dead = True
            frame.inner = [frame.forward] if hasattr(frame.forward, "dead") else []
        if before is not None:
            before.inner += frame.inner


def compiled(module):
    """It runs compiled: not merely wrapped as if it were (script/_compile.py)."""
    if any(kind.__name__ == "OptimizedModule" for kind in type(module).__mro__):
        return getattr(vars(module).get("forward"), "__self__", None) is not getattr(module, "_orig_mod", module)
    inner = getattr(module, "_compiled_call_impl", None)
    return inner is not None and getattr(inner, "__func__", None) is not nn.Module._call_impl


def argument(args, kwargs):
    for value in (*args, *kwargs.values()):
        if isinstance(value, torch.Tensor):
            return value
    return None


def first_tensor(result):
    if isinstance(result, torch.Tensor) or result is None:
        return result
    value = getattr(result, "last_hidden_state", None)
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(result, (tuple, list)):
        return next((item for item in result if isinstance(item, torch.Tensor)), None)
    return None
