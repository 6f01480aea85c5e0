"""Which files are changed: those that are named, or the adapter's own project as far as it is imported."""

import gc
import glob
import os
import sys
import types

# Folders in which nobody's own project lies.
OTHERS = ("site-packages", "dist-packages", "node_modules", "__pycache__")
OURS = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


class Sources:
    def __init__(self, root, sources=(), here=None):
        self.root = os.path.realpath(root)  # the adapter's folder
        self.named = list(sources)
        self.found = {}  # of each name: real paths
        for name in self.named:
            paths = glob.glob(os.path.join(here or root, name), recursive=True)
            self.found[name] = {os.path.realpath(path) for path in paths if path.endswith(".py")}
        self.paths = set().union(*self.found.values()) if self.named else set()
        self.modules = [name for name in self.named if not self.found[name] and _is_module(name)]
        self.endings = [os.sep + name.replace(".", os.sep) + end for name in self.modules for end in (".py", os.sep + "__init__.py")]
        self.kept = {}

    def may_be(self, path):
        """Whether this real path is that of a file that is changed, as far as can be told while it is imported."""
        if self.named:
            return path in self.paths or path.endswith(tuple(self.endings)) if self.endings else path in self.paths
        return self._is_own(path)

    def chosen(self):
        """(real paths in their order, problems): imported, or cut by `lossproof.testing.slice_of`."""
        imported = _imported()
        if not self.named:
            main = _real(sys.modules.get("__main__"))
            own = [path for path in imported if self._is_own(path)]
            return [path for path in own if path != main] or own, []
        problems, paths = [], []
        for name in self.named:
            meant = self.found[name] or {_real(sys.modules.get(name))} - {None}
            there = [path for path in imported if path in meant]
            if not there:
                problems.append(self._absent(name, meant))
            paths += [path for path in there if path not in paths]
        return paths, problems

    def _absent(self, name, meant):
        if not meant:
            return "--source %s: there is no such file, and the adapter imports no such module" % name
        return "--source %s: the adapter does not import it, so that no op can reach it" % name

    def _is_own(self, path):
        if not path.startswith(os.path.join(self.root, "")) or path.startswith(os.path.join(OURS, "")):
            return False
        folder = os.path.dirname(path)
        if folder not in self.kept:
            self.kept[folder] = self._is_project(folder)
        return self.kept[folder]

    def _is_project(self, folder):
        """No folder on the way down from the root is an environment or holds installed packages."""
        while len(folder) > len(self.root):
            if os.path.basename(folder) in OTHERS or os.path.exists(os.path.join(folder, "pyvenv.cfg")):
                return False
            folder = os.path.dirname(folder)
        return True

    def shown(self, path):
        """Below the root as seen from there; of an installed package from where it is installed."""
        for folder in [self.root, *sorted(map(os.path.realpath, sys.path), key=len, reverse=True)]:
            if folder and path.startswith(os.path.join(folder, "")):
                return os.path.relpath(path, folder).replace(os.sep, "/")
        return path.replace(os.sep, "/")


def _is_module(name):
    return all(part.isidentifier() for part in name.split("."))


def _real(module):
    name = getattr(module, "__file__", None)
    # Some modules say the name of a file that is none.
    return os.path.realpath(name) if isinstance(name, str) and name.endswith(".py") and os.path.isfile(name) else None


def _imported():
    """In the order of their import; those that are only cut behind them."""
    paths = dict.fromkeys(filter(None, map(_real, list(sys.modules.values()))))
    for function in gc.get_objects():
        if isinstance(function, types.FunctionType) and "remade" in function.__dict__:
            paths[os.path.realpath(function.__code__.co_filename)] = None
    return list(paths)
