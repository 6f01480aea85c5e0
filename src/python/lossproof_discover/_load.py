"""A project's file as a module, as its own code would import it; what is not installed is stubbed."""

import importlib
import os
import sys

from lossproof._ops import ARGS
from lossproof.testing import stub

# Names that stand in an adapter: a module `loss` beside a function `loss` would be lost.
_TAKEN = set(ARGS) | {name for fields in ARGS.values() for name in fields} | {"lossproof", "torch", "numpy"}
# Names that are missing one after the other.
_MOST = 60


class Loaded:
    """module; `line` is the import that an adapter writes, `prefix` what stands before a function's name, `folder` what must
    be on the path, `stubs` what was not installed."""

    def __init__(self, module, line, prefix, folder, stubs):
        self.module, self.line, self.prefix, self.folder, self.stubs = module, line, prefix, folder, stubs


_stubbed = []
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


def load(path):
    """Loaded, or raises what the import raised."""
    folder, name = place_of(path)
    if not all(part.isidentifier() for part in name.split(".")):
        raise ImportError("its name is none that Python can import: %s" % os.path.basename(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    own = name.split(".")[0]
    for _ in range(_MOST):
        try:
            # Only while it is imported: what a function tries to import later, with another way at hand, is not there.
            with stub(_stubbed):
                module = importlib.import_module(name)
            break
        except ModuleNotFoundError as error:
            missing = (error.name or "").split(".")[0]
            if not missing or missing in _stubbed or (missing == own):
                raise
            _forget(own)
            _stubbed.append(missing)
    else:
        raise ImportError("more than %d packages are missing" % _MOST)
    package, _, last = name.rpartition(".")
    line = "from %s import %s" % (package, last) if package else "import %s" % last
    prefix = last
    if last in _TAKEN:
        prefix = last + "_code"
        line += " as " + prefix
    return Loaded(module, line, prefix, "" if os.path.realpath(folder) in _START else folder, list(_stubbed))


def _forget(own):
    """What was imported by half is imported again."""
    for name in [n for n in sys.modules if n == own or n.startswith(own + ".")]:
        del sys.modules[name]
