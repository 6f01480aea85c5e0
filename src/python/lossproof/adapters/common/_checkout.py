"""Trainers that no registry has: a clone, which the user names."""

import importlib
import os
import subprocess
from pathlib import Path

from ._library import Driven, quietly
from ._tiny import stop

VARIABLE = "LOSSPROOF_CHECKOUT"
_ABBREVIATED = 7
# bound (wall): asking git for the commit of a checkout; the version names no commit
_GIT_SECONDS = 10


class Checkout(Driven):
    """The clone that LOSSPROOF_CHECKOUT names.

    address: where to clone it from. known: the commits that the adapter is tested with, as git abbreviates them.
    file: one that every such clone has."""

    def __init__(self, title, address, known, file):
        named = os.environ.get(VARIABLE)
        if not named:
            stop("%s names no folder: set it to a clone of %s" % (VARIABLE, address))
        self.root = Path(named).resolve()
        if not (self.root / file).is_file():
            stop("%s is %s, and there is no %s in it: is it a clone of %s?" % (VARIABLE, self.root, file, address))
        super().__init__(title, _commit(self.root), known)

    def module(self, name):
        """A module of it, whatever else is called so. Its folder stands on sys.path by then."""
        try:
            with quietly():
                module = importlib.import_module(name)
        except ImportError as absent:
            stop("%s of %s %s cannot be imported: %s" % (name, self.title, self.version, absent))
        found = getattr(module, "__file__", None)
        if not str(found or "").startswith(str(self.root)):
            stop("`import %s` finds %s, which is not in %s" % (name, found, self.root))
        return module

    def file(self, name, ops):
        """A file of it; None, and what is said of these ops, where this commit has it not."""
        path = self.root / name
        if path.is_file():
            return path
        for op in ops:
            self.lacks.setdefault(op, "%s %s has no %s" % (self.title, self.version, name))
        return None


class Quiet:
    """For what a clone's code calls that does not matter to what is asked: takes any call, and answers with itself."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_, **__):
        return self


def _commit(root):
    """The commit that is checked out; a folder without a history has none."""
    line = ["git", "-C", str(root), "rev-parse", "--show-toplevel", "--short=%d" % _ABBREVIATED, "HEAD"]
    try:
        said = subprocess.run(line, capture_output=True, text=True, timeout=_GIT_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError):
        return "of no commit"
    top, _, commit = said.stdout.strip().partition("\n")
    # A folder inside another repository has that one's commit, which says nothing of it.
    return commit if said.returncode == 0 and Path(top).resolve() == root else "of no commit"
