"""A finder at the head of sys.meta_path: it finds nothing itself, and has a say in one loader before it is used."""

import os
import sys
import threading


def install(say):
    """`say(name, spec)` hears of each module that is found."""
    sys.meta_path.insert(0, _Finder(say))


class _Finder:
    def __init__(self, say):
        self.say = say
        self.asking = threading.local()

    def find_spec(self, name, path=None, target=None):
        if getattr(self.asking, "busy", False):
            return None
        self.asking.busy = True
        try:
            for finder in list(sys.meta_path):
                find = getattr(finder, "find_spec", None)
                spec = None if finder is self or find is None else find(name, path, target)
                if spec is not None:
                    self.say(name, spec)
                    return spec
        finally:
            self.asking.busy = False
        return None


class Changed:
    """The file at `path` is compiled from another text."""

    def __init__(self, path, text):
        self.path, self.text = os.path.realpath(path), text

    def __call__(self, name, spec):
        if spec.origin is None or spec.loader is None or os.path.realpath(spec.origin) != self.path:
            return
        text, origin = self.text, spec.origin
        spec.loader.get_code = lambda _: compile(text, origin, "exec", dont_inherit=True)


class Turn:
    """Where `lossproof.serve` would begin to answer, the server takes its turn."""

    def __init__(self, folder, sources, lines):
        self.folder, self.sources, self.lines = folder, sources, lines

    def __call__(self, name, spec):
        if name != "lossproof._serve" or spec.loader is None:
            return
        loader, execute = spec.loader, spec.loader.exec_module

        def exec_module(module):
            del loader.exec_module
            execute(module)
            loop = module._loop

            def turn(source, answer, hold=None):
                if hold is not None:  # several ranks: a fork of one of them has no others
                    sys.stderr.write("lossproof: mutate takes an adapter of one process, without torchrun\n")
                    os._exit(2)
                from ._server import serve

                module._loop = loop
                self.lines.stop()
                serve(self.folder, self.sources, self.lines, loop, source, answer)

            module._loop = turn

        loader.exec_module = exec_module
