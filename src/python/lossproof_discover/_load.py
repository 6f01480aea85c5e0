"""A project's file as a module, as its own code would import it; what is not installed is stubbed."""

import importlib
import os
import sys

from lossproof._ops import ARGS
from lossproof.testing import stub

from ._plans import LOCALS

# Names that stand in an adapter: a module `loss` beside a function `loss` would be lost.
_TAKEN = set(ARGS) | {name for fields in ARGS.values() for name in fields} | {"lossproof", "torch", "numpy"} | LOCALS
# Names that are missing one after the other.
_MOST = 60


class Loaded:
    """module; `line` is the import that an adapter writes, `prefix` what stands before a function's name, `folder` what must
    be on the path, `stubs` what was stubbed, and `always` whether also where it is installed."""

    def __init__(self, module, line, prefix, folder, stubs, always):
        self.module, self.line, self.prefix, self.folder = module, line, prefix, folder
        self.stubs, self.always = stubs, always


_stubbed = []
# What they would stand in for is what is to be tried; and nothing is derived from a stub of what classes are made of.
_NEVER = ("torch", "numpy", "typing_extensions")
# What can be imported from anywhere needs no folder of its own.
_START = [os.path.realpath(folder or ".") for folder in sys.path]


def place_of(path):
    """(folder for sys.path, dotted name)."""
    folder, name = os.path.split(os.path.abspath(path))
    parts = [name[:-3]] if name != "__init__.py" else []
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return folder, ".".join(parts)


def load(path, libraries=()):
    """Loaded, or raises what the import raised. `libraries`: what the project imports, all of which may be stubbed at last."""
    folder, name = place_of(path)
    if not all(part.isidentifier() for part in name.split(".")):
        raise ImportError("its name is none that Python can import: %s" % os.path.basename(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    own = name.split(".")[0]
    stubs, always = [], False
    try:
        module = _with_missing_stubbed(name, own)
        stubs = list(_stubbed)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in _NEVER:
            raise
        module, stubs, always = *_with_all_stubbed(name, own, libraries, error), True
    except ImportError as error:
        # A stub makes some libraries believe that a third one is there, and ask it for what no stub has.
        module, stubs, always = *_with_all_stubbed(name, own, libraries, error), True
    package, _, last = name.rpartition(".")
    line = "from %s import %s" % (package, last) if package else "import %s" % last
    prefix = last
    if last in _TAKEN:
        prefix = last + "_code"
        line += " as " + prefix
    return Loaded(module, line, prefix, "" if os.path.realpath(folder) in _START else folder, stubs, always)


def _with_missing_stubbed(name, own):
    for _ in range(_MOST):
        try:
            # Only while it is imported: what a function tries to import later, with another way at hand, is not there.
            with stub(_stubbed):
                return importlib.import_module(name)
        except ImportError as error:
            missing = _missing(error)
            if not missing or missing in _stubbed or missing == own or missing in _NEVER:
                raise
            _forget(own)
            _stubbed.append(missing)
    raise ImportError("more than %d packages are missing" % _MOST)


def _missing(error):
    """The package that is not there; some projects say so in an error of their own, behind the one that Python raised."""
    while error is not None and not isinstance(error, ModuleNotFoundError):
        error = error.__cause__ or error.__context__
    return (getattr(error, "name", None) or "").split(".")[0]


def _with_all_stubbed(name, own, libraries, error):
    """Stubbed also where it is installed: what the project imports, and whatever stands in the way of it."""
    kept = set(getattr(sys, "stdlib_module_names", ())) | {"__main__", own, "lossproof", "lossproof_discover", *_NEVER}
    names = sorted((set(libraries) | set(_stubbed)) - kept)
    for _ in range(_MOST):
        fresh = sorted(_in_the_way(error) - kept - set(names))
        names += fresh
        if not names:
            raise error
        _forget(own)
        try:
            with stub(names, always=True):
                return importlib.import_module(name), names
        except ImportError as again:
            error = again
            if not _in_the_way(again) - kept - set(names):
                raise
    raise error


def _in_the_way(error):
    """The package that an import failed for, and those that were importing it."""
    found = {(getattr(error, "name", None) or "").split(".")[0]} - {""}
    at = error.__traceback__
    while at is not None:
        found.add(at.tb_frame.f_globals.get("__name__", "").split(".")[0])
        at = at.tb_next
    return found - {"", "importlib", "_frozen_importlib", "_frozen_importlib_external"}


def _forget(own):
    """What was imported by half is imported again."""
    for name in [n for n in sys.modules if n == own or n.startswith(own + ".")]:
        del sys.modules[name]
