"""The engine as a process of ours: `lossproof session`, a line of JSON a question (PROTOCOL.md).

It lives as long as its standard input is open: when this process ends, however it ends, the engine ends every trainer."""

import itertools
import json
import os
import subprocess
import tempfile

from ._node import OPTION, engine_command, engine_environment, start

# bound (wall): pytest and notebooks: waiting for the engine to end; it is killed
_CLOSE_SECONDS = 5
_TAIL_BYTES = 4000


class EngineProblem(Exception):
    """What the engine complains of: a sentence for the user."""


class Engine:
    """Starts at once. `option`: what one of the command is called where the user is, as `--lossproof-{option}` or `{keyword}`;
    `more` are variables over those of this process. Raises NoNode where no Node runs."""

    def __init__(self, option, more=None):
        variables = dict(engine_environment(), **{OPTION: option}, **(more or {}))
        # It speaks of a pipe that is not the engine's.
        variables.pop("LOSSPROOF_PIPE", None)
        self._words = tempfile.TemporaryFile()
        self._ids = itertools.count(1)
        self._process = start(
            engine_command(["session"]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env=variables,
        )

    @property
    def alive(self):
        return self._process.poll() is None

    def ask(self, do, on_event=None, **fields):
        """The answer. Raises EngineProblem with the engine's sentence, or with why there is no engine any more."""
        identity = next(self._ids)
        request = {"id": identity, "do": do}
        request.update((key, value) for key, value in fields.items() if value is not None)
        try:
            self._process.stdin.write(json.dumps(request).encode("utf-8") + b"\n")
            self._process.stdin.flush()
            while True:
                line = self._process.stdout.readline()
                if not line:
                    raise EngineProblem(self._death())
                answer = json.loads(line.decode("utf-8"))
                if answer.get("id") not in (identity, None):
                    continue  # of a question that nobody waits for any more
                if "problem" in answer:
                    raise EngineProblem(answer["problem"])
                if "ok" in answer:
                    return answer["ok"]
                if on_event is not None:
                    on_event(answer.get("event", {}))
        except (BrokenPipeError, ValueError) as error:
            # ValueError: its pipe was closed, or half a line came.
            raise EngineProblem(self._death() if not isinstance(error, ValueError) else _GARBLED % error)

    def end(self):
        """Tells it that nobody asks any more: it ends every trainer, and itself."""
        try:
            self._process.stdin.close()
        except OSError:
            pass

    def close(self):
        """Returns when it and every trainer that it started is gone."""
        process = self._process
        self.end()
        try:
            process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        self._words.close()

    def _death(self):
        try:
            code = self._process.wait(_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, self._words.tell() - _TAIL_BYTES))
        said = self._words.read().decode("utf-8", "replace").strip()
        how = "signal %d" % -code if code < 0 else "exit code %d" % code
        return "lossproof's engine (Node) ended with %s%s" % (how, ":\n" + said if said else " and said nothing.")


_GARBLED = "lossproof's engine (Node) cannot be understood: %s"
