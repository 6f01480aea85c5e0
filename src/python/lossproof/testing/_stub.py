"""Imports of packages that are not installed: modules whose attributes are stand-ins, so that a trainer's file can be
imported for the code in it that needs none of them."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
import types

from ._standins import standin

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

VERSION = "0.0.0"


def stub(names: list[str] | tuple[str, ...] | Mapping[str, str], always: bool = False) -> Stubs:
    """From here on (or for the length of a `with` block) these packages and all below them can be imported.

    names: ["vllm", "flash_attn"], or {"vllm": "0.8.5"} where the trainer looks at versions.
    always: stands in for what is installed as well; else only where Python finds nothing.

    What is imported can be named, subclassed, used as a decorator or an annotation, and called at the top of a file; a
    call from a function raises a sentence that names it. To answer in the place of one, import it and set it:
    `import vllm; vllm.LLM = MyLLM`, before the trainer is imported."""
    if isinstance(names, str):
        raise TypeError("stub takes a list: stub([%r])" % names)
    versions = {name: names[name] if isinstance(names, dict) else VERSION for name in names}
    return Stubs(versions, always)


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The finder of these names, last in line, or first where it is asked for always."""

    def __init__(self, versions, always):
        self._versions = versions
        self._before = {}
        if always:
            for name in list(sys.modules):
                if self._named(name):
                    self._before[name] = sys.modules.pop(name)
            sys.meta_path.insert(0, self)
        else:
            sys.meta_path.append(self)
        importlib.invalidate_caches()

    def _named(self, module):
        return any(module == name or module.startswith(name + ".") for name in self._versions)

    def find_spec(self, fullname, path=None, target=None):
        if not self._named(fullname):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin="a stub of lossproof.testing", is_package=True)

    def find_distributions(self, context=importlib.metadata.DistributionFinder.Context()):
        wanted = getattr(context, "name", None)
        if wanted is not None:
            for name, version in self._versions.items():
                if wanted.replace("-", "_").lower() == name.replace("-", "_").lower():
                    yield _Distribution(name, version)

    def create_module(self, spec):
        return StubModule(spec.name)

    def exec_module(self, module):
        top = next(name for name in self._versions if module.__name__ == name or module.__name__.startswith(name + "."))
        module.__version__ = self._versions[top]

    def remove(self) -> None:
        """Nothing is stubbed any more; modules that imported a stand-in keep it."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for name, module in list(sys.modules.items()):
            if isinstance(module, StubModule) and self._named(name):
                del sys.modules[name]
        sys.modules.update(self._before)
        self._before = {}

    def __enter__(self) -> Stubs:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


class StubModule(types.ModuleType):
    """A module that has every attribute. Those that Python itself looks for (__all__, __file__) it does not have."""

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError("%s is a stub, and has no %s" % (self.__name__, name))
        made = standin(self.__name__ + "." + name)
        setattr(self, name, made)  # the same each time: it may be a base class
        return made


class _Distribution(importlib.metadata.Distribution):
    """What importlib.metadata.version says of a stub."""

    def __init__(self, name, version):
        self._text = "Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version)

    def read_text(self, filename):
        return self._text if filename == "METADATA" else None

    def locate_file(self, path):
        return path
