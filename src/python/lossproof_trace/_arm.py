"""Waits for the modules that matter to be imported, in whatever way, and then puts the hooks in.

A finder at the head of sys.meta_path lets the other finders find the module and wraps `exec_module` of that one loader
for one call, so that specifications, loaders and sources of modules are what they would be without the tracer.
"""

import functools
import os
import sys
import threading

from .recording import _ending, _session

DEFAULT_STEPS = 2

ENGINES = {
    "vllm.entrypoints.llm": ("LLM", "vllm"),
    "vllm.v1.engine.async_llm": ("AsyncLLM", "vllm"),
    "vllm.engine.async_llm_engine": ("AsyncLLMEngine", "vllm"),
    "trl.generation.vllm_client": ("VLLMClient", "vllm"),
    "trl.extras.vllm_client": ("VLLMClient", "vllm"),
    "sglang.srt.entrypoints.engine": ("Engine", "sglang"),
}


def arm():
    """Once in a process, by the environment. Raises nothing that the caller need care for."""
    if _session.current() is not None:
        return
    folder = os.environ["LOSSPROOF_TRACE"]
    os.makedirs(folder, exist_ok=True)
    try:
        wanted = max(0, int(os.environ.get("LOSSPROOF_TRACE_STEPS") or DEFAULT_STEPS))
    except ValueError:
        wanted = DEFAULT_STEPS
    session = _session.Session(folder, os.environ.get("LOSSPROOF_TRACE_MODE") or "auto", wanted)
    _session.use(session)
    session.begin()
    _ending.install(session)
    waiting = {name: functools.partial(_engine, session) for name in ENGINES}
    waiting["torch"] = functools.partial(_torch, session)
    waiting["transformers.generation.utils"] = functools.partial(_part, session, "_generate", "install")
    waiting["transformers.generation.continuous_batching.continuous_api"] = functools.partial(
        _part, session, "_generate", "install_batches"
    )
    waiting["transformers.tokenization_utils_base"] = functools.partial(_part, session, "_tokenizers", "install")
    waiting["transformers.modeling_utils"] = functools.partial(_part, session, "_optimiser", "install_pretrained")
    waiting["transformers.trainer"] = functools.partial(_part, session, "_settings", "install")
    sys.meta_path.insert(0, Finder(session, waiting))
    for name, hook in waiting.items():
        if name in sys.modules:
            with session.guard("import of " + name):
                hook(sys.modules[name])


class Finder:
    """Finds nothing itself: it asks the finders behind it, and has `hook(module)` called when the module is ready."""

    def __init__(self, session, waiting):
        self.session = session
        self.waiting = waiting
        self.asking = threading.local()

    def find_spec(self, name, path=None, target=None):
        hook = self.waiting.get(name)
        if hook is None or getattr(self.asking, "busy", False):
            return None
        self.asking.busy = True
        try:
            spec = self._behind(name, path, target)
        finally:
            self.asking.busy = False
        if spec is not None and spec.loader is not None:
            self._wrap(name, spec.loader, hook)
        return spec

    def _behind(self, name, path, target):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                return spec
        return None

    def _wrap(self, name, loader, hook):
        session = self.session
        execute = getattr(loader, "exec_module", None)
        if execute is None:
            return

        def exec_module(module):
            try:
                del loader.exec_module
            except AttributeError:
                pass
            execute(module)
            with session.guard("import of " + name):
                hook(module)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass


def _torch(session, torch):
    from .forward import _install
    from .script import _optimiser

    _optimiser.install(session, torch)
    _compile(session, torch)
    _install.install(session)


def _part(session, part, install, module):
    import importlib

    getattr(importlib.import_module("lossproof_trace.script." + part), install)(session, module)


def _engine(session, module):
    name, what = ENGINES[module.__name__]
    owner = getattr(module, name, None)
    if owner is None or "__init__" not in vars(owner):
        return
    original = owner.__init__

    @functools.wraps(original)
    def init(self, *args, **kwargs):
        with session.guard("engine"):
            session.blind(
                what,
                "Completions are sampled by %s, an engine of its own, which the tracer cannot see into: "
                "what it sampled, and with which settings, is unknown." % what,
            )
        return original(self, *args, **kwargs)

    owner.__init__ = init


def _compile(session, torch):
    """Compiled modules may run without their hooks; whether one did is known only at the end."""
    original = getattr(torch, "compile", None)
    if original is None:
        return

    @functools.wraps(original)
    def compile(model=None, *args, **kwargs):
        with session.guard("torch.compile"):
            if model is not None:
                # Of a method, the module or optimiser that it belongs to.
                subject = getattr(model, "__self__", model)
                session.compiled.append(getattr(subject, "__name__", type(subject).__name__))
                # Read by hooks while a graph is made, so that it must be known before.
                session.one_graph = session.one_graph or bool(kwargs.get("fullgraph", False))
        return original(model, *args, **kwargs)

    torch.compile = compile
