"""A Ctrl-C ends what this thread waits for, whatever else the process does with one: where a cell of a notebook awaits, Jupyter's
kernel only cancels its task, and nothing hears of that before the cell has come back by itself."""

import contextlib
import signal
import threading


class Ended(KeyboardInterrupt):
    """Raised where `end` was called."""


class CtrlC:
    """`with` it, KeyboardInterrupt is raised in Python's first thread; in another nothing changes, it hears of no signal."""

    def __init__(self):
        self._thread = threading.get_ident()
        self._first = self._thread == threading.main_thread().ident
        self._before = None
        self._ending = False

    def __enter__(self):
        before = signal.getsignal(signal.SIGINT)
        # None: what has taken it is not Python's.
        if self._first and before is not None:
            self._before = before
            signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_):
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def end(self):
        """Raises Ended in the thread that is in it, where that can be; for other threads to call."""
        if self._before is not None and hasattr(signal, "pthread_kill"):
            self._ending = True
            with contextlib.suppress(ProcessLookupError):
                signal.pthread_kill(self._thread, signal.SIGINT)

    def _hear(self, number, frame):
        if self._ending:
            self._ending = False
            raise Ended
        if self._before == signal.SIG_DFL:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        elif callable(self._before):
            # Whoever heard of it before still does.
            self._before(number, frame)
            raise KeyboardInterrupt
