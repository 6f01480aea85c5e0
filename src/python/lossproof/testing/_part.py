"""A package whose files are imported statement by statement: what fails is left out, and the functions beside it are there."""

from __future__ import annotations

import __future__
import ast
import importlib
import importlib.abc
import importlib.machinery
import os
import sys

from ._standins import standin
from ._stub import VERSION, StubModule

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from typing import Any


def in_part(package: str) -> Parts:
    """From here on (or for the length of a `with` block) a file of this package, or this one file, need not run whole: a version
    check, a command line that is parsed, a missing GPU, a class of a library's that is not there.

    An import that fails is a stand-in, as `stub` has them. Any other statement that fails is left out, with the names that it
    would have set: a function that needs one raises NameError. `left_out` lists these statements."""
    return Parts(package)


class Parts(importlib.abc.MetaPathFinder):
    """The finder of one package, first in line."""

    def __init__(self, package):
        self._package = package
        self.left_out: list[str] = []
        sys.meta_path.insert(0, self)
        importlib.invalidate_caches()

    def find_spec(self, fullname, path=None, target=None):
        if fullname != self._package and not fullname.startswith(self._package + "."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Loader(fullname, spec.loader.path, self.left_out)
        return spec

    def remove(self) -> None:
        """Files are imported whole again; what was imported in part stays so."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def __enter__(self) -> Parts:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, fullname, path, left_out):
        super().__init__(fullname, path)
        self._left_out = left_out

    def exec_module(self, module):
        tree = ast.parse(self.get_data(self.path), self.path)
        space = vars(module)
        space["__doc__"] = ast.get_docstring(tree)
        flags = _futures(tree)
        for node in tree.body:
            try:
                _run([node], self.path, flags, space)
            except (Exception, SystemExit) as error:
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    _import_each(node, self.path, flags, space)
                else:
                    self._left_out.append("%s:%d %s" % (os.path.basename(self.path), node.lineno, _told(error)))


def _run(nodes, path, flags, space):
    exec(compile(ast.Module(nodes, []), path, "exec", flags, True), space)


def _futures(tree):
    """`from __future__ import annotations` is of the whole file."""
    named = [alias.name for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__" for alias in node.names]
    flags = 0
    for name in named:
        flags |= getattr(__future__, name).compiler_flag
    return flags


def _import_each(node, path, flags, space):
    """Each name alone; those that cannot be had are stand-ins."""
    for alias in node.names:
        one = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], node.level)
        try:
            _run([ast.copy_location(one, node)], path, flags, space)
        except (Exception, SystemExit):
            if alias.name == "*":
                continue
            if isinstance(node, ast.Import):
                top = alias.name if alias.asname else alias.name.partition(".")[0]
                space[alias.asname or top] = _module(top)
            else:
                space[alias.asname or alias.name] = standin("%s.%s" % (node.module or space["__name__"].rpartition(".")[0], alias.name))


def _module(name):
    made = StubModule(name)
    made.__version__ = VERSION
    return made


def _told(error):
    if isinstance(error, SystemExit):
        return "exits the process (code %s)" % error.code
    return ("%s: %s" % (type(error).__name__, error)).split("\n")[0][:200]
