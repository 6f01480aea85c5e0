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

# Modules whose classes are wrapped when they are imported: the file that does it, and its function.
PARTS = {
    "transformers.generation.utils": ("sampling._generate", "install"),
    "transformers.generation.continuous_batching.continuous_api": ("sampling._generate", "install_batches"),
    "transformers.tokenization_utils_base": ("script._tokenizers", "install"),
    "transformers.modeling_utils": ("steps._optimiser", "install_pretrained"),
    "transformers.trainer": ("script._settings", "install"),
    "torch.utils.data.dataloader": ("script._batches", "install"),
    "tiktoken.core": ("script._tokenizers", "install_foreign"),
    "sentencepiece": ("script._tokenizers", "install_foreign"),
    "deepspeed.runtime.engine": ("steps._deepspeed", "install"),
    "vllm.entrypoints.llm": ("sampling._engines", "install"),
    "vllm.v1.engine.async_llm": ("sampling._engines", "install"),
    "vllm.engine.async_llm_engine": ("sampling._engines", "install"),
    "trl.generation.vllm_client": ("sampling._engines", "install"),
    "trl.extras.vllm_client": ("sampling._engines", "install"),
    "sglang.srt.entrypoints.engine": ("sampling._engines", "install"),
    "tokenizers": ("script._raw", "install"),
    "requests.models": ("sampling._served", "requests"),
    "httpx._models": ("sampling._served", "httpx"),
    "http.client": ("sampling._served", "plain"),
    "ray": ("workers._driver", "install"),
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
    waiting = {name: functools.partial(_part, session, *part) for name, part in PARTS.items()}
    waiting["torch"] = functools.partial(_torch, session)
    if os.environ.get("LOSSPROOF_TWIN"):
        from .twins import _twins

        _twins.begin(session, waiting)
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
    from .sampling import _decoding
    from .script import _compile
    from .steps import _combined, _optimiser, _ranks

    _optimiser.install(session, torch)
    _combined.install(session, torch)
    _ranks.install(session, torch)
    _compile.install(session, torch)
    _decoding.install(session)
    _install.install(session)


def _part(session, part, install, module):
    import importlib

    getattr(importlib.import_module("lossproof_trace." + part), install)(session, module)


