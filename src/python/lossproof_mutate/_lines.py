"""Which lines of the user's own files run, by what they run for: the import, or the op of a request."""

import os
import sys
import threading

IMPORT = "import"


class Lines:
    def __init__(self, is_meant):
        self.is_meant = is_meant  # of a real path
        self.paths = {}  # of a code object's file: its real path, or None where nobody asks for it
        self.seen = {}
        self.begin(IMPORT)

    def begin(self, what):
        self.now = self.seen.setdefault(what, set())

    def start(self):
        threading.settrace(self._call)
        sys.settrace(self._call)

    def stop(self):
        sys.settrace(None)
        threading.settrace(None)

    def of(self, what, path):
        return sorted(line for each, line in self.seen.get(what, ()) if each == path)

    def _call(self, frame, event, argument):
        name = frame.f_code.co_filename
        try:
            path = self.paths[name]
        except KeyError:
            path = self.paths[name] = self._wanted(name)
        if path is None:
            return None
        self.now.add((path, frame.f_lineno))

        def line(frame, event, argument):
            if event == "line":
                self.now.add((path, frame.f_lineno))
            return line

        return line

    def _wanted(self, name):
        path = os.path.realpath(name)
        return path if self.is_meant(path) else None
