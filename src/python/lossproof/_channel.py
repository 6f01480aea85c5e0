"""The pipe to the harness: our own copies of fd 0 and fd 1. Knows nothing of JSON or ops.

Anything may print: libraries at import, C code, the user. So fd 1 itself is pointed at standard error, and only
the copy made here still leads to the harness. Only the harness can say that it is there before a word is exchanged: a test
runner's worker, a notebook and a CI job have pipes, too, and import us for other things than to answer.
"""

import os
import signal
import stat
import sys

# 64 KiB is a Linux pipe's whole buffer: more is never waiting in one.
READ_BYTES = 1 << 16

# Set by the harness for what it starts; PROTOCOL.md.
_HARNESS = "LOSSPROOF_PIPE"

# Whether the harness started this process.
harnessed = False

_output = None


def launched():
    """(rank, how many ranks) of this process, where a launcher such as torchrun has started it as one of them; otherwise None.

    A container may have RANK and WORLD_SIZE for what it starts in turn; who is started as a rank has LOCAL_RANK as well."""
    try:
        own, _, count = (int(os.environ[name]) for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE"))
    except (KeyError, ValueError):
        return None
    return own, count


_IN_PYTEST = (
    "lossproof.serve() answers a harness on standard input, and here pytest has imported it; put it below `if __name__ == \"__main__\":`, "
    "or keep the adapter in a file that pytest does not import, and test it by `pytest --lossproof FILE`"
)


def claim_if_asked():
    """`claim`, where the harness started this process. What it starts in turn is none of the harness's."""
    global harnessed
    if os.environ.pop(_HARNESS, None) is not None:
        harnessed = True
        claim()


def claim():
    """Keep standard output for answers and send every print to standard error. Of several ranks the first one has the pipe."""
    global _output
    if _output is not None:
        return
    if (launched() or (0, 1))[0] > 0:
        _output = os.open(os.devnull, os.O_WRONLY)
        os.dup2(2, 1)
        _empty_input()
        # The launcher ends ranks by a signal, and what they have not written by then is lost.
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(line_buffering=True)
        return
    _output = os.dup(1)  # not inherited by programs that the trainer starts
    os.dup2(2, 1)


def refuse_in_pytest():
    """Where pytest runs in this process, its standard input and its Ctrl-C are not to be taken: raises what it tells without a
    traceback."""
    # What it always loads, and `import pytest` does not; its variables reach its children, too.
    if not harnessed and "_pytest.helpconfig" in sys.modules:
        from pytest import Collector

        raise Collector.CollectError(_IN_PYTEST)


def inputs():
    """A private descriptor of standard input; fd 0 itself is emptied, so that nobody else eats requests.

    Exits with code 2 and one sentence at a terminal, where there is no harness to talk to."""
    if _at_terminal():
        script = os.path.basename(sys.argv[0]) or "FILE"
        ranks = launched()
        program = "python" if ranks is None else "torchrun --nproc-per-node %d" % ranks[1]
        sys.stderr.write(
            "lossproof: this is an adapter, answering a harness on its standard input; "
            "run it by `lossproof check -- %s %s`.\n" % (program, script)
        )
        raise SystemExit(2)
    claim()
    own = os.dup(0)
    _empty_input()
    # Ctrl-C is the harness's decision, not ours; a file on standard input means that a person replays a case.
    if not stat.S_ISREG(os.fstat(own).st_mode):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return own


def _empty_input():
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)


def write(text):
    """Send text to the harness, whole. Raises BrokenPipeError when it has gone."""
    data = text.encode("ascii")
    descriptor = 1 if _output is None else _output
    while data:
        data = data[os.write(descriptor, data) :]


def _at_terminal():
    try:
        return os.isatty(0)
    except OSError:
        return False
