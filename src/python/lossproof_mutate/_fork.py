"""What a fork does: it takes the client's pipes for its own, takes its change, and answers until its input ends."""

import array
import json
import os
import socket
import sys
import traceback

from ._live import TooLate
from ._told import write

PIPES = 3
REQUEST_BYTES = 1 << 12
# Exit codes that the engine knows: they say nothing about the trainer.
TOO_LATE, NOT_TAKEN = 93, 94
# A change may well ask for a tensor of the wrong shape; beyond what the trainer has it gets so much.
MORE_BYTES = 8 << 30


def requested(client):
    """(request, descriptors of the client's standard streams); None where it went before it had asked."""
    room = socket.CMSG_SPACE(PIPES * array.array("i").itemsize)
    text, ancillary, _, _ = client.recvmsg(REQUEST_BYTES, room)
    pipes = array.array("i")
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            pipes.frombytes(data[: len(data) - len(data) % pipes.itemsize])
    if not text or len(pipes) != PIPES:
        for pipe in pipes:
            os.close(pipe)
        return None
    return json.loads(text), list(pipes)


def child(state, request, pipes, loop, answer):
    """Never returns. What was registered to be done at the end of the process is the parent's."""
    code = 1
    try:
        code = _answered(state, request, pipes, loop, answer)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)


def _answered(state, request, pipes, loop, answer):
    from lossproof import _channel  # it is there: its `serve` has called us

    source, output, errors = pipes
    os.dup2(errors, 2)
    os.dup2(2, 1)
    _channel._output = output
    _limit_memory()
    change = request.get("change")
    if change is not None:
        try:
            state.live.take(*state.changes[change])
        except TooLate:
            return TOO_LATE
        except Exception:
            traceback.print_exc()
            return NOT_TAKEN
    if request.get("lines"):
        answer = _recorded(state.lines, answer)
    loop(source, answer)
    if request.get("lines"):
        state.lines.stop()
        seen = {op: {path: state.lines.of(op, path) for path in state.live.texts} for op in state.lines.seen}
        write(request["folder"], request["lines"], seen)
    return 0


def _recorded(lines, answer):
    lines.seen.clear()

    def recorded(line):
        lines.begin(_op(line))
        lines.start()
        try:
            return answer(line)
        finally:
            lines.stop()

    return recorded


def _op(line):
    try:
        return str(json.loads(line)["op"])
    except (ValueError, KeyError, TypeError):
        return ""


def _limit_memory():
    """Not beside a GPU, whose driver asks for far more room than it takes."""
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is not None and cuda.is_initialized():
        return
    try:
        import resource  # not on every system

        with open("/proc/self/statm") as file:
            has = int(file.read().split()[0]) * resource.getpagesize()
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (has + MORE_BYTES, hard))
    except (ImportError, OSError, ValueError):
        pass  # a system that does not tell, or does not limit
