"""Models whose methods the script calls itself: `model.forward(ids)`, `model.inference(ids, position)`. Only calls of modules
are seen by themselves; that ids are looked up in an embedding, outside of any call, gives such a method away. The
method of the class is then wrapped for all calls to come; the call that is running is followed to its return."""

import functools
import sys
import types

import torch
from torch import nn

from ..models import _models
from . import _arguments

# Looks at who called an embedding: one that belongs to no language model is not asked about for ever.
MOST_TRIES = 8
# Frames above an embedding in which its model may be.
DEEPEST = 40


class Direct:
    def __init__(self, watcher):
        import weakref

        self.watcher = watcher
        self.tries = weakref.WeakKeyDictionary()
        self.wrapped = set()
        # Code of methods that took ids and were no call of a language model.
        self.refused = set()
        _models.on_watch.append(lambda module: self.wrap(module, "forward"))

    def looked_up(self, table, args, kwargs):
        """An embedding is called outside of all calls that are followed."""
        session = self.watcher.session
        ids = args[0] if args else kwargs.get("input")
        if session.generating or self.watcher.local.declined or not _arguments._ids_like(ids) or ids.numel() == 0 or ids.device.type == "meta":
            return
        tries = self.tries.get(table, 0)
        if tries >= MOST_TRIES:
            return
        self.tries[table] = tries + 1
        found = self.caller(table, ids)
        if found is None:
            return
        frame, module = found
        name = frame.f_code.co_name
        self.wrap(module, name)
        self.wrap(module, "forward")
        # Not only the first call: a method that was taken from the module before goes by no wrapper.
        self.follow(frame, module, table)

    def caller(self, table, ids):
        """(Python frame, module) of the method that was called with the ids that are looked up, or None."""
        found = []
        frame, depth = sys._getframe(3), 0
        while frame is not None and depth < DEEPEST:
            code = frame.f_code
            if code.co_argcount > 1 and code not in self.refused:
                local = frame.f_locals
                module = local.get(code.co_varnames[0])
                if isinstance(module, nn.Module) and not type(module).__module__.startswith("torch.nn."):
                    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
                    if any(self.same(local.get(name), ids) for name in names) and has(module, table):
                        found.append((frame, module))
            frame, depth = frame.f_back, depth + 1
        forwards = [each for each in found if each[0].f_code.co_name == "forward"]
        # A model's `forward` may call its body's; a method that samples calls the one that predicts.
        return forwards[-1] if forwards else found[0] if found else None

    @staticmethod
    def same(value, ids):
        if value is ids:
            return True
        return _arguments._ids_like(value) and value.shape == ids.shape and bool((value == ids).all())

    def wrap(self, module, name):
        """Wraps a method of the module's class, once. What inspect says of it stays as it is."""
        owner = next((kind for kind in type(module).__mro__ if name in vars(kind)), None)
        function = None if owner is None else vars(owner)[name]
        if not isinstance(function, types.FunctionType) or owner.__module__.startswith("torch.nn.") or name in vars(module):
            return
        if (owner, name) in self.wrapped:
            return
        self.wrapped.add((owner, name))
        watcher, session, local = self.watcher, self.watcher.session, self.watcher.local
        is_compiling = torch.compiler.is_compiling if hasattr(torch, "compiler") else (lambda: False)

        @functools.wraps(function)
        def method(self, *args, **kwargs):
            if is_compiling() or local.frame is not None or session.ended is not None or session.generating:
                return function(self, *args, **kwargs)
            session.modules_called = True
            if not _arguments.has_ids(args, kwargs):
                return function(self, *args, **kwargs)
            return watcher.maybe(self, args, kwargs, function)

        setattr(owner, name, method)

    def follow(self, frame, module, table):
        """The call of the method that is running: its arguments are its frame's, and its return is awaited."""
        watcher, local = self.watcher, self.watcher.local
        if sys.gettrace() is not None or watcher.kind(module) == "plain":
            return
        code = frame.f_code
        names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        values = frame.f_locals
        called = watcher.enter(module, watcher.kind(module), (), {each: values.get(each) for each in names})
        if called is None:
            return
        before, through = local.frame, local.through
        local.frame, local.through = called, through + (module,)

        def ended(frame, event, value):
            if event != "return":
                return ended
            frame.f_trace = None
            if sys.gettrace() is silent:
                sys.settrace(None)
            local.frame, local.through = before, through
            with watcher.session.guard("return"):
                watcher.leave(called, before, value)
                if called.forward is None:
                    self.refused.add(code)
                else:
                    self.tries[table] = 0
            return None

        frame.f_trace_lines = False
        frame.f_trace = ended
        sys.settrace(silent)


def silent(frame, event, value):
    """Traces no frame; those that ask for it are told of their return."""
    return None


def has(module, table):
    return any(part is table for part in module.modules())
