"""A training that is watched: what it logs, what was found in it, and whether it should end."""

from __future__ import annotations

import json
import os
import sys
import threading

from . import _command
from ._child import PATIENCE, Child
from ._sinks import Sinks

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType
    from typing import Any, Literal, Union

    Command = Union[str, Sequence[str]]

POLICIES = ("warn", "stop")
# The levels whose findings end a training.
STOPPING = {"must": ("must",), "should": ("must", "should")}
_DEEPEST = 8


class Finding(dict):
    """What was found, once for each rule: `id`, `level`, `sentence`, `advice`, `series`, `step`, `value`."""


class Watch:
    """Made by `watch`. A finding is printed once, on standard error."""

    def __init__(
        self,
        policy: Literal["warn", "stop"] = "warn",
        level: Literal["must", "should"] = "must",
        command: Command | None = None,
        options: Sequence[str] = (),
        active: bool = True,
        facts: Mapping[str, Any] | None = None,
        report_to: str | Sequence[str] = (),
    ) -> None:
        if policy not in POLICIES:
            raise ValueError("policy: %r is none of %s" % (policy, ", ".join(POLICIES)))
        if level not in STOPPING:
            raise ValueError("level: %r is none of %s" % (level, ", ".join(STOPPING)))
        self.policy = policy
        self.findings: list[Finding] = []
        self.verdict: dict[str, Any] | None = None
        self._sinks = Sinks(report_to, self._warn)
        self._stopping = STOPPING[level]
        self._told = 0
        self._stop = False
        self._closing = False
        self._said = set()
        self._began = threading.Event()
        self._child = None
        if not active:
            return
        try:
            words = _command.found(command) + ["monitor", "-", "--json", "--keep-going", *options]
            self._child = Child(words, self._hear)
            self._child.start()
        except (_command.NotFound, OSError) as error:
            self._warn("the training is not watched: %s" % error)
        if facts:
            self.declare(facts)

    def declare(self, facts: Mapping[str, Any]) -> None:
        """What the run says of its settings, as a trainer's arguments: `{"max_completion_length": 512}`."""
        self._send(lambda: {"declare": facts})

    def log(self, step: int, values: Mapping[str, Any] | None = None, /, **named: Any) -> list[Finding]:
        """What was logged at a step, by names as a trainer has them. Gives the findings that are new since the last call; those
        of this step come with the next. Never waits."""
        if values is not None or named:
            self._send(lambda: {**(values or {}), **named, "step": step})
        return self._tell()

    def _tell(self):
        new = self.findings[self._told :]
        self._told += len(new)
        for finding in new:
            self._sinks.alert(finding)
        return new

    @property
    def should_stop(self) -> bool:
        """Of policy "stop": something was found that a training should end at."""
        return self._stop

    def ready(self, timeout: float | None = None) -> bool:
        """Waits until the process that judges has started, which takes about a second; whether it has."""
        return self._began.wait(timeout)

    def close(self, patience: float = PATIENCE) -> dict[str, Any] | None:
        """The log is at its end: waits for the verdict, which is one line. Called again it does nothing."""
        if self._closing:
            return self.verdict
        self._closing = True
        if self._child is not None:
            self._child.end(patience)
        self._tell()
        if self.verdict is not None:
            self._sinks.verdict(self.verdict, self.findings)
        return self.verdict

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: BaseException | type[BaseException] | TracebackType | None) -> None:
        self.close()

    def _send(self, made):
        child = self._child
        if child is None:
            return
        try:
            child.send(json.dumps(_plain(made(), 0)))
        except Exception as error:  # a training does not end because of what it logs
            self._warn("something that was logged cannot be sent: %s: %s" % (type(error).__name__, error))
        if child.dropped:
            self._warn("more is logged than can be judged; some of it is left out")

    def _hear(self, said):
        """In the reader's thread."""
        if said is None:
            return self._gone()
        kind = said.get("type")
        if kind == "begin":
            self._began.set()
        elif kind == "violation":
            self._find(said)
        elif kind == "complaint":
            self._warn(str(said.get("sentence")))
        elif kind == "verdict":
            self.verdict = said
            _print("lossproof: %s" % said.get("sentence"))

    def _find(self, said):
        if said.get("known"):
            return
        finding = Finding((name, value) for name, value in said.items() if name != "type")
        self.findings.append(finding)
        stops = self.policy == "stop" and finding.get("level") in self._stopping
        stops = stops and not self._stop and not self._closing
        lines = [
            "lossproof: %s (%s): %s" % (finding.get("id"), finding.get("level"), finding.get("sentence")),
            "  What to do: %s" % finding.get("advice"),
        ]
        if stops:
            lines.append('  The training is asked to stop (policy "stop"); `lossproof report` shows what was found.')
        _print("\n".join(lines))
        self._stop = self._stop or stops

    def _gone(self):
        self._began.set()
        if self.verdict is not None:
            return
        self._warn("the training is not watched any more: %s" % self._child.epitaph())

    def _warn(self, sentence):
        if sentence not in self._said:
            self._said.add(sentence)
            _print("lossproof: %s" % sentence)


def watch(
    policy: Literal["warn", "stop"] = "warn",
    level: Literal["must", "should"] = "must",
    command: Command | None = None,
    options: Sequence[str] = (),
    report_to: str | Sequence[str] = (),
    **facts: Any,
) -> Watch:
    """Begins to watch a training loop of your own. Of several processes only rank 0 (environment variable RANK) is watched.

    policy: "warn" prints what is found, "stop" sets `should_stop` as well, for findings of `level` ("must", or "should" for
    both). command: what starts lossproof, where it is not found by itself. options: further words of `lossproof monitor`,
    as ["--set", "kl-spike.times=30"]. report_to: trackers that are told, too: "wandb", "mlflow", "trackio", or several; each needs a
    run of its own in this process. facts: what the run says of its settings, as learning_rate=1e-4."""
    active = os.environ.get("RANK", "0") in ("", "0")
    return Watch(policy, level, command, options, active, facts, report_to)


def _plain(value, depth):
    """What JSON has: scalars of numpy and torch as numbers; what is none of these, as null."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if depth < _DEEPEST:
        if isinstance(value, dict):
            return {str(key): _plain(inner, depth + 1) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [_plain(inner, depth + 1) for inner in value]
    try:
        number = value.item()
    except Exception:
        return None
    return number if isinstance(number, (bool, int, float, str)) else None


def _print(text):
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except Exception:
        pass  # there may be no standard error any more
