"""One process that forks a trainer for whoever asks: `python -m MODULE ARGUMENT...` without the start of an interpreter,
which for a trainer that is asked one case is nearly all of its work. Each is a process of its own, fresh as any other.

Lines on standard input: `+N ["MODULE", "ARGUMENT", ...]` starts trainer N, `N REQUEST` asks it, `-N` ends it. A request is
answered by `N ANSWER` before the next line is read; where the trainer has died, ANSWER is empty."""

import gc
import json
import os
import runpy
import signal
import sys
import warnings

from lossproof import _channel

# What most trainers import. Not taken from the list of who asks: it only makes them start faster.
import conformance.conventions  # noqa: F401
import conformance.right_padded  # noqa: F401
from mutants.loading import load_all


class Child:
    """A trainer and both ends of the pipes to it."""

    def __init__(self, command, others):
        given, self.requests = os.pipe()
        answers, taken = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            # A sibling's pipe that is held open here would never end.
            for other in others:
                os.close(other.requests)
                other.answers.close()
            os.close(self.requests)
            os.close(answers)
            _serve(command, given, taken)
        os.close(given)
        os.close(taken)
        self.answers = os.fdopen(answers, "rb")

    def ask(self, line):
        try:
            while line:
                line = line[os.write(self.requests, line) :]
        except BrokenPipeError:
            return b""
        return self.answers.readline().rstrip(b"\n")

    def end(self):
        os.close(self.requests)
        self.answers.close()
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


def _serve(command, given, taken):
    """In the child: never returns."""
    code = 1
    try:
        os.dup2(given, 0)
        os.close(given)
        _channel._output = taken
        sys.argv = list(command)
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(code)


def main():
    load_all()
    # A trainer that others import runs a second time, as __main__; that is meant.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module="runpy")
    gc.collect()
    gc.freeze()  # or the collector would write to every page that is shared
    source = os.fdopen(_channel.inputs(), "rb")
    children = {}
    for line in source:
        number, _, rest = line.partition(b" ")
        if number.startswith(b"+"):
            children[number[1:]] = Child(json.loads(rest), children.values())
        elif number.startswith(b"-"):
            children.pop(number[1:].strip()).end()
        else:
            answer = children[number].ask(rest)
            _channel.write((number + b" " + answer + b"\n").decode("ascii"))
    for child in children.values():
        child.end()


if __name__ == "__main__":
    main()
