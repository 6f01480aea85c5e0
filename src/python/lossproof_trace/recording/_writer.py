"""One JSON object a line, appended to a file of this process. src/trace/records/ says what may stand in it.

Each line goes to the system as it is written, so that the file can be read when the process is killed. A child that was made by
fork never writes to its parent's file: it gets one of its own, with the parent's models and settings said again.
"""

import base64
import json
import math
import os
import sys
import threading
import time

TRACE_VERSION = 1

# What a later process line, a fork's own file, must know of before its own records: they name models by index.
REMEMBERED = ("versions", "model", "settings", "tokenizer")


class Writer:
    """Thread-safe. Nothing that it does may fail loudly: a full disk must not end a training run."""

    def __init__(self, folder):
        self.folder = folder
        self.failed = None
        self.name = None
        # Says what this process is, where that is known: {"name", "node"}.
        self.who = lambda: {}
        self._remembered = []
        self._descriptor = None
        self._fresh()

    def _fresh(self):
        # Also after a fork: another thread may have held the lock when the parent forked.
        self._lock = threading.RLock()
        self.rank = self.world = None
        self._said = {}
        self._started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

    def after_fork(self):
        # A descriptor and no file object: no buffer whose rest the child could write to its parent's file.
        inherited, self._descriptor = self._descriptor, None
        self._fresh()
        if inherited is not None:
            os.close(inherited)

    def called(self, who):
        with self._lock:
            self.who = who
            if self._descriptor is not None:
                self._process(*place())

    def move(self, folder):
        with self._lock:
            self.folder = folder
            self.after_fork()
            self.open()

    @property
    def opened(self):
        """Whether this process has a file."""
        return self._descriptor is not None

    def open(self):
        """Creates the file with its first line."""
        with self._lock:
            if self._descriptor is not None or self.failed is not None:
                return
            rank, world = place()
            # Process ids are a node's own.
            node = os.environ.get("LOSSPROOF_TRACE_NODE")
            self.name = "%d-%d%s.ndjson" % (rank, os.getpid(), "-" + node if node else "")
            try:
                path = os.path.join(self.folder, self.name)
                self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            except OSError as error:
                self.failed = error
                return
            self._process(rank, world)
            for line in self._remembered:
                self._line(line)

    def write(self, record):
        """`record` is plain JSON, or torch tensors where arrays belong."""
        line = json.dumps(plain(record), allow_nan=False, separators=(",", ":"))
        with self._lock:
            self.open()
            if record["kind"] in REMEMBERED:
                self._remembered.append(line)
            if place() != (self.rank, self.world) or self.who() != self._said:
                # init_process_group(rank=...) without RANK in the environment: known only now. The last line counts. So it is
                # with the actor that a worker of Ray becomes.
                self._process(*place())
            self._line(line)

    def _process(self, rank, world):
        self.rank, self.world = rank, world
        self._said = self.who()
        record = {
            "kind": "process",
            "trace": TRACE_VERSION,
            "pid": os.getpid(),
            "rank": rank,
            "world": world,
            "argv": [str(word) for word in getattr(sys, "orig_argv", None) or getattr(sys, "argv", None) or []],
            "python": "%d.%d.%d" % sys.version_info[:3],
            "started": self._started,
            **self._said,
        }
        self._line(json.dumps(record, separators=(",", ":")))

    def _line(self, line):
        if self._descriptor is None:
            return
        rest = memoryview((line + "\n").encode("utf-8", "backslashreplace"))
        try:
            while len(rest) > 0:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError as error:
            self.failed, self._descriptor = error, None


def place():
    """Rank and world size: of torch.distributed where it runs, else of the environment."""
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
    except Exception:  # noqa: BLE001 - half imported, or half destroyed
        pass
    return number("RANK", 0), number("WORLD_SIZE", 1)


def number(name, default):
    try:
        return int(os.environ.get(name, default))
    except ValueError:
        return default


def plain(value):
    """Plain JSON: tensors as base64, numbers that JSON does not have as null, anything unknown as its text."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return array(value)
    return str(value)


def array(tensor):
    """{"dtype", "shape", "data"}: integers as int32 where they fit, halves as float32, in little-endian, row-major."""
    import ctypes

    import torch

    tensor = tensor.detach()
    if tensor.dtype == torch.float64:
        name, width = "float64", 8
    elif tensor.is_floating_point():
        tensor, name, width = tensor.to(torch.float32), "float32", 4
    else:
        small = tensor.numel() == 0 or (int(tensor.min()) >= -(2**31) and int(tensor.max()) < 2**31)
        tensor, name, width = (tensor.to(torch.int32), "int32", 4) if small else (tensor.to(torch.int64), "int64", 8)
    tensor = tensor.cpu().contiguous()
    # Not numpy: torch works without it.
    data = ctypes.string_at(tensor.data_ptr(), tensor.numel() * width) if tensor.numel() > 0 else b""
    if sys.byteorder == "big":
        data = b"".join(data[at : at + width][::-1] for at in range(0, len(data), width))
    return {"dtype": name, "shape": list(tensor.shape), "data": base64.b64encode(data).decode("ascii")}
