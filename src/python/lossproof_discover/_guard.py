"""What the project's code may not do here. Against accidents, not against malice: code that means harm is not to be run at all.

Refused by Python's own audit events, which C code that opens files by itself does not raise: writing outside the working folder,
starting programs, forking, sockets. The system adds what it allows: bounds on memory, file size and CPU time, a network
namespace without any network, and Landlock, for which C code is no exception."""

import ctypes
import os
import signal
import sys
import time

from ._landlock import restricted

_NEWUSER, _NEWNET = 0x10000000, 0x40000000
_STARTS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn"}
_NETWORK = {"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendmsg"}
_CHANGES = {
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link", "os.symlink", "os.truncate",
    "os.utime", "os.setxattr", "shutil.rmtree", "shutil.move", "shutil.copyfile", "shutil.copytree", "shutil.chown",
}  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Where libraries put what is no file of anybody's.
_HARMLESS = ("/dev/null", "/dev/tty", "/proc/self")
# Databases that are no file, or are only read.
_NO_FILE = ("", ":memory:")
_ONLY_READ = ("mode=ro", "mode=memory", "immutable=1")
_FILE_BYTES = 64 << 20
# Of the clock: with `nice -n 19` beside other work a process still has more.
_IDLE = 0.002
_SIGNAL = getattr(signal, "SIGALRM", None)


class Refused(PermissionError):
    """Code under `discover` did what it may not."""


class TooLong(BaseException):
    """No Exception: a trainer's `except Exception` must not swallow it."""


def bound(folder, memory, seconds):
    """From here on for good. `memory` in bytes, `seconds` of CPU in all. Returns what the system did not allow."""
    missing = []
    try:
        import resource

        for name, most in (("RLIMIT_CORE", 0), ("RLIMIT_FSIZE", _FILE_BYTES), ("RLIMIT_AS", memory), ("RLIMIT_CPU", seconds)):
            kind = getattr(resource, name)
            _, hard = resource.getrlimit(kind)
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (most, hard if name == "RLIMIT_CPU" else most))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an OSError is enough
    except (ImportError, ValueError, OSError, AttributeError):
        missing.append("no bound on memory")
    if not _without_network():
        missing.append("the network is closed to Python code alone")
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    sys.dont_write_bytecode = True
    if not restricted(folder):
        missing.append("only Python code is kept to the folder, and not what C code writes: torch.save, databases, named pipes")
    _without_spawning()
    sys.addaudithook(_hook(os.path.realpath(folder)))
    return missing


def _without_network():
    if not sys.platform.startswith("linux"):
        return False
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return libc.unshare(_NEWNET) == 0 or libc.unshare(_NEWUSER | _NEWNET) == 0
    except (OSError, AttributeError):
        return False


def _without_spawning():
    """`multiprocessing` starts Python by this, of which no audit event tells."""
    try:
        import _posixsubprocess
    except ImportError:
        return

    def fork_exec(*_):
        raise Refused("it starts a process")

    _posixsubprocess.fork_exec = fork_exec


def _hook(folder):
    # An audit hook is called by everything: what it needs is at hand, and what is no concern of its own leaves at once.
    inside = folder + os.sep
    real, fspath = os.path.realpath, os.fspath

    def ours(path):
        if isinstance(path, int):
            return True
        try:
            name = real(fspath(path))
        except (TypeError, ValueError):
            return True
        name = name.decode(errors="replace") if isinstance(name, bytes) else name
        return name == folder or name.startswith(inside) or name.startswith(_HARMLESS)

    def hook(event, given):
        if event == "open":
            path, mode, flags = (tuple(given) + (None, None, None))[:3]
            writes = (isinstance(mode, str) and any(c in mode for c in "wax+")) or (isinstance(flags, int) and flags & _WRITING)
            if writes and path is not None and not ours(path):
                raise Refused("it writes to a file outside of its working folder (%s)" % _name(path))
        elif event == "sqlite3.connect":
            name = os.fsdecode(given[0]) if isinstance(given[0], (str, bytes, os.PathLike)) else ""
            if name not in _NO_FILE and not any(word in name for word in _ONLY_READ) and not ours(name.replace("file:", "", 1)):
                raise Refused("it writes to a file outside of its working folder (%s)" % _name(name))
        elif event in _STARTS:
            raise Refused("it starts a process" if "fork" not in event else "it forks")
        elif event in _NETWORK:
            # Names without an address are no connection; asyncio's own pair of sockets is a family of Unix.
            if event != "socket.bind" or given[1:] and isinstance(given[1], tuple):
                raise Refused("it opens a socket")
        elif event in _CHANGES and not all(ours(path) for path in given[:2] if isinstance(path, (str, bytes))):
            raise Refused("it changes a file outside of its working folder (%s)" % _name(given[0]))

    return hook


def _name(path):
    return os.path.basename(os.fsdecode(path))


class within:
    """`with within(2.0):` ends with TooLong where Python code takes more CPU time, or where it waits: after four times that by the
    clock, if it has used hardly any CPU time. A busy machine is no reason. What hangs in C is the engine's to end."""

    def __init__(self, seconds):
        self._seconds = seconds

    def __enter__(self):
        self._set(self._seconds)

    def __exit__(self, *_):
        self._set(0)

    def _set(self, seconds):
        if _SIGNAL is None:
            return
        self._clock, self._used = time.monotonic(), time.process_time()
        for timer, number, heard, factor in (
            (signal.ITIMER_PROF, signal.SIGPROF, _over, 1),
            (signal.ITIMER_REAL, _SIGNAL, self._looked, 4),
        ):
            signal.signal(number, heard)
            # Again and again: a bare `except:` may take the first for its own.
            signal.setitimer(timer, factor * seconds, seconds)

    def _looked(self, *_):
        if time.process_time() - self._used < _IDLE * (time.monotonic() - self._clock):
            _over()


def _over(*_):
    raise TooLong("it did not return in time")
