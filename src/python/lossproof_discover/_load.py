"""A project's file as a module, as its own code would import it; what is not installed is stubbed."""

import importlib
import json
import os
import sys

from lossproof._ops import ARGS
from lossproof.testing import in_part, stub

from ._plans import LOCALS

# Names that stand in an adapter: a module `loss` beside a function `loss` would be lost.
_TAKEN = set(ARGS) | {name for fields in ARGS.values() for name in fields} | {"lossproof", "torch", "numpy"} | LOCALS
# Names that are missing one after the other.
_MOST = 60


class Loaded:
    """module; `line` is the import that an adapter writes, below `head` where that is not empty; `prefix` what stands before a function's
    name, `folder` what must be on the path, `left_out` what of its package did not run."""

    def __init__(self, module, line, prefix, folder, head, left_out):
        self.module, self.line, self.prefix, self.folder = module, line, prefix, folder
        self.head, self.left_out = head, left_out


_stubbed = []
# Packages of the project that cannot be imported whole.
_in_part = set()
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


def load(path, libraries=(), versions=None):
    """Loaded, or raises what the import raised. `libraries`: what the project imports, all of which may be stubbed at last.
    `versions`: what is stubbed although it may be there, and as which version."""
    folder, name = place_of(path)
    if not all(part.isidentifier() for part in name.split(".")):
        raise ImportError("its name is none that Python can import: %s" % os.path.basename(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    own = name.split(".")[0]
    with stub(versions or {}, always=True):
        module, heads, left_out = _imported(name, own, libraries)
    if versions:
        heads = ["stub(%s, always=True)" % json.dumps(versions), *heads]
    head = "with %s:" % ", ".join(heads) if heads else ""
    head += "  # not installed here" if head.startswith("with stub([") and "always" not in head else ""
    package, _, last = name.rpartition(".")
    line = "from %s import %s" % (package, last) if package else "import %s" % last
    prefix = last
    if last in _TAKEN:
        prefix = last + "_code"
        line += " as " + prefix
    return Loaded(module, line, prefix, "" if os.path.realpath(folder) in _START else folder, head, left_out)


def _imported(name, own, libraries):
    """(module, what is written around its import, what was left out). Whole where that can be, with what is missing stubbed, with all
    that it imports stubbed; in part at last, and from then on all that is of the same package."""
    if own not in _in_part:
        try:
            return _whole(name, own, libraries)
        except ModuleNotFoundError as error:
            if (error.name or "").split(".")[0] in _NEVER:
                raise
            why = error
        except (Exception, SystemExit) as error:
            why = error
        _forget(own)
        _in_part.add(own)
    else:
        why = ImportError("nothing of it could be run")
    with in_part(own) as parts:
        module = importlib.import_module(name)
    if not any(getattr(each, "__module__", None) == name and callable(each) for each in vars(module).values()):
        raise why
    return module, ["in_part(%s)" % json.dumps(own)], parts.left_out


def _whole(name, own, libraries):
    try:
        module = _with_missing_stubbed(name, own)
        return module, ["stub(%s)" % json.dumps(_stubbed)] if _stubbed else [], []
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] in _NEVER:
            raise
        # A stub makes some libraries believe that a third one is there, and ask it for what no stub has.
        module, names = _with_all_stubbed(name, own, libraries, error)
        return module, ["stub(%s, always=True)" % json.dumps(names)], []


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
