"""`lossproof.pytest.trace`: a training script run under `lossproof trace`, and what it trained as an object to assert on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from ._declared import check_names, words_of
from ._node import engine_command, engine_environment, start

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from typing_extensions import TypedDict

    from ._declared import Level, Path

    class Told(TypedDict, total=False):
        """Options of `lossproof trace`."""

        dataset: Path
        train_on: str
        tokenizer: Path
        marks: Any
        semantics: Mapping[str, Any] | str
        only: str | Sequence[str]
        level: Level
        known: Path
        strict: bool
        mode: str

# bound (wall): `trace` in a notebook: waiting for the end of the trace; it is killed
_END_SECONDS = 5
# docs/trace.md
_TOLD = ("dataset", "train_on", "tokenizer", "marks", "semantics", "only", "level", "known", "strict", "mode")


class NotTraced(AssertionError):
    """There is nothing to assert on: what the engine says of it."""


class Row:
    """One row of a forward pass. Lists are as long as `ids`; index t speaks of token t as a target."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.step: int = facts["step"]
        self.rank: int = facts["rank"]
        self.forward: int = facts["forward"]
        self.row: int = facts["row"]
        self.ids: list[int] = facts["ids"]
        self.tokens: list[str] = facts["tokens"]
        self.real: list[bool] = facts["real"]
        self.roles: list[str] = facts["roles"]
        # Whether each token is trained, and whether it should be (None: either is right, or nobody knows).
        self.is_trained: list[bool] = facts["trained"]
        self.expected: list[bool | None] = facts["expected"]
        self.targets: list[int | None] = facts["targets"]
        self.weights: list[float | None] = facts["weights"]
        self.logprobs: list[float | None] | None = facts["logprobs"]
        self.trained_behind_the_end: bool = facts["trained_behind_the_end"]
        # Text of the row without its padding, and of the tokens that are trained.
        self.text: str = facts["text"]
        self.trained: str = facts["trained_text"]
        self.origin: str = facts["origin"]

    @property
    def trained_ids(self) -> list[int]:
        return [token for token, trained in zip(self.ids, self.is_trained) if trained]

    def __repr__(self) -> str:
        return "<row %d of forward pass %d in step %d: trains %r>" % (self.row, self.forward, self.step, self.trained)


class Ledger:
    """What a script trained. True where `lossproof trace` has a verdict and everything holds."""

    def __init__(self, facts: Mapping[str, Any], exit_code: int, report: str) -> None:
        self.rows = [Row(row) for row in facts["rows"]]
        self.steps: list[dict[str, Any]] = facts["steps"]
        self.verdicts: dict[str, str] = {verdict["id"]: verdict["verdict"] for verdict in facts["verdicts"]}
        self.failed: list[dict[str, Any]] = [verdict for verdict in facts["verdicts"] if verdict["fails"]]
        # What could not be seen, a sentence each.
        self.unseen: list[str] = facts["unseen"]
        self.semantics: dict[str, Any] = facts["settings"]["semantics"]
        self.versions: dict[str, str] = facts["versions"]
        self.exit_code = exit_code
        # What a terminal shows, with all that the script printed.
        self.report = report

    def row(self, index: int) -> Row:
        """In the order in which they were trained."""
        if not -len(self.rows) <= index < len(self.rows):
            raise IndexError("the ledger has %d rows, and row %d is asked for" % (len(self.rows), index))
        return self.rows[index]

    def __bool__(self) -> bool:
        return self.exit_code == 0

    def __repr__(self) -> str:
        said = ["%s: %s: %s" % (each["id"], each["verdict"], each["sentence"]) for each in self.failed]
        facts = "%d rows in %d steps, exit code %d" % (len(self.rows), len(self.steps), self.exit_code)
        return "<ledger of %s%s>" % (facts, "".join("\n  " + line for line in said + self.unseen))


def trace(
    script: Path | Sequence[Path],
    args: Sequence[object],
    steps: int | None,
    keep_going: bool,
    python: Path | None,
    cwd: Path | None,
    env: Mapping[str, str] | None,
    options: Mapping[str, Any],
) -> Ledger:
    """`lossproof.pytest.trace`, which tells what each is."""
    check_names("lossproof.pytest.trace", options, ("steps", "keep_going", "python", "cwd", "env") + _TOLD)
    words = [os.fspath(word) for word in script] if isinstance(script, (list, tuple)) else [os.fspath(python or sys.executable), os.fspath(script)]
    typed = [] if steps is None else ["--steps", str(steps)]
    typed += ["--keep-going"] if keep_going else []
    typed += words_of(options)
    with tempfile.TemporaryDirectory(prefix="lossproof-") as folder:
        file = os.path.join(folder, "ledger.json")
        out = ["--ledger", file, "--no-annotations"]
        command = engine_command(["trace"] + out + typed + ["--"] + words + [str(arg) for arg in args])
        code, report = _run(command, cwd, dict(engine_environment(), LOSSPROOF_TIED="1", **(env or {})))
        # Where pytest shows it if the test fails.
        sys.stdout.write(report)
        if not os.path.exists(file):
            raise NotTraced("lossproof trace has no ledger (exit code %d):\n%s" % (code, report.strip()))
        with open(file, encoding="utf-8") as opened:
            ledger = Ledger(json.load(opened), code, report)
    if not ledger.rows and code != 0:
        raise NotTraced("lossproof trace saw nothing that was trained (exit code %d):\n%s" % (code, report.strip()))
    return ledger


def _run(command, cwd, env):
    process = start(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        said, _ = process.communicate()
    except BaseException:
        # It ends the script, and must have the time to.
        process.terminate()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        raise
    return process.returncode, said.decode("utf-8", "replace")
