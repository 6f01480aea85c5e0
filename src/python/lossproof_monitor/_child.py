"""The process that judges, and the threads that write to it and read from it. Whoever calls never waits for it, but for its
end; it ends by itself when this process is gone, however that went: its standard input ends then.
"""

import atexit
import collections
import json
import os
import queue
import signal
import subprocess
import threading
import time
import weakref

# Of lines that wait for a process that starts or is slow: an hour of a log of ten a second.
MOST_WAITING = 36_000
# Seconds that its verdict is waited for, at the end; and then behind each signal.
# bound (wall): `lossproof_monitor`: waiting for the verdict at the end of training; the process is ended, and the verdict is missing
PATIENCE = 60
# bound (wall): `lossproof_monitor`: waiting for the process after a signal; the next signal
LAST_PATIENCE = 5
# Of what it says on standard error: the last lines tell why it ended.
_KEPT_LINES = 20

_open = weakref.WeakSet()


class Child:
    """`hear` gets each object that it says, in a thread of its own, and at last None."""

    def __init__(self, words, hear):
        self._owner = os.getpid()
        self._hear = hear
        self._lines = queue.Queue(MOST_WAITING)
        self._ending = threading.Lock()
        self._ended = False
        self._broken = False
        self.dropped = 0
        self._complaints = collections.deque(maxlen=_KEPT_LINES)
        # A pipe of our own: a number can be closed in a process that was forked meanwhile, a file object's lock may be held there.
        theirs, self._pipe = os.pipe()
        try:
            # A session of its own: Ctrl-C is for the training, whose end is then seen here.
            self._process = subprocess.Popen(
                words, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except BaseException:
            os.close(self._pipe)
            raise
        finally:
            os.close(theirs)
        works = {"complaints": self._read_complaints, "reader": self._read, "writer": self._write}
        self._threads = {
            name: threading.Thread(target=work, name="lossproof " + name, daemon=True) for name, work in works.items()
        }

    def start(self):
        """Begins to write and to hear: once whoever hears knows it."""
        _open.add(self)
        atexit.register(self.end)
        for thread in self._threads.values():
            thread.start()

    def send(self, line):
        """One line, at once or never: where too many wait, it is left out."""
        if self._broken or self._ended or os.getpid() != self._owner:
            return
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self.dropped += 1

    def end(self, patience=PATIENCE):
        """Ends it, with its verdict if it has one within so many seconds. Afterwards no process is left."""
        if os.getpid() != self._owner:
            return
        with self._ending:
            if self._ended:
                return
            self._ended = True
        atexit.unregister(self.end)
        try:
            self._shut(patience)
        except BaseException:
            self._signal(signal.SIGKILL)
            raise
        finally:
            for thread in self._threads.values():
                thread.join(LAST_PATIENCE)

    def epitaph(self):
        """Why it has ended, as far as it has said so."""
        lines = [line.strip() for line in self._complaints if line.strip()]
        why = [line for line in lines if line.startswith("lossproof:")] or [line for line in lines if "Error" in line] or lines
        return "lossproof has ended (exit code %s)%s" % (self._process.poll(), ": " + why[-1] if why else "")

    def _shut(self, patience):
        until = time.monotonic() + patience
        try:
            self._lines.put(None, timeout=patience)
        except queue.Full:
            pass
        # A SIGTERM is the end of a job: what it has read is judged all the same.
        for left, what in ((max(0.0, until - time.monotonic()), signal.SIGTERM), (LAST_PATIENCE, signal.SIGKILL)):
            try:
                self._process.wait(left)
                return
            except subprocess.TimeoutExpired:
                self._signal(what)
        self._process.wait()

    def _signal(self, what):
        try:
            os.killpg(self._process.pid, what)  # what started it, as npx does, and itself
        except OSError:
            pass

    def _write(self):
        try:
            while True:
                line = self._lines.get()
                if line is None:
                    return
                data = line.encode("utf-8", "replace") + b"\n"
                while data:
                    data = data[os.write(self._pipe, data) :]
        except OSError:
            pass  # it has ended; the reader says so
        finally:
            self._broken = True
            pipe, self._pipe = self._pipe, None
            os.close(pipe)

    def _read(self):
        for line in self._process.stdout:
            try:
                said = json.loads(line)
            except ValueError:
                continue  # whatever started it may speak as well
            if isinstance(said, dict):
                self._hear(said)
        self._broken = True
        self._threads["complaints"].join(LAST_PATIENCE)
        try:
            self._process.wait(LAST_PATIENCE)
        except subprocess.TimeoutExpired:
            pass
        self._hear(None)

    def _read_complaints(self):
        for line in self._process.stderr:
            self._complaints.append(line.decode("utf-8", "replace").rstrip())


def _let_go():
    """In a process that was forked, as the workers of a data loader are: the end of the pipe is not theirs to hold open."""
    for child in list(_open):
        if child._pipe is not None:
            os.close(child._pipe)
            child._pipe = None
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
