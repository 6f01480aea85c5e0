"""`lossproof.pytest.trace`: a training script run under `lossproof trace`, and what it trained as an object to assert on."""

import json
import os
import subprocess
import sys
import tempfile

from ._node import engine_command, engine_environment

_END_SECONDS = 5
# docs/trace.md
_TOLD = ("dataset", "train_on", "tokenizer", "marks", "semantics", "only", "level", "known", "mode")


class NotTraced(AssertionError):
    """There is nothing to assert on: what the engine says of it."""


class Row:
    """One row of a forward pass. Lists are as long as `ids`; index t speaks of token t as a target."""

    def __init__(self, facts):
        self.step = facts["step"]
        self.rank = facts["rank"]
        self.forward = facts["forward"]
        self.row = facts["row"]
        self.ids = facts["ids"]
        self.tokens = facts["tokens"]
        self.real = facts["real"]
        self.roles = facts["roles"]
        # Whether each token is trained, and whether it should be (None: either is right, or nobody knows).
        self.is_trained = facts["trained"]
        self.expected = facts["expected"]
        self.targets = facts["targets"]
        self.weights = facts["weights"]
        self.logprobs = facts["logprobs"]
        self.trained_behind_the_end = facts["trained_behind_the_end"]
        # Text of the row without its padding, and of the tokens that are trained.
        self.text = facts["text"]
        self.trained = facts["trained_text"]
        self.origin = facts["origin"]

    @property
    def trained_ids(self):
        return [token for token, trained in zip(self.ids, self.is_trained) if trained]

    def __repr__(self):
        return "<row %d of forward pass %d in step %d: trains %r>" % (self.row, self.forward, self.step, self.trained)


class Ledger:
    """What a script trained. True where `lossproof trace` has a verdict and everything holds."""

    def __init__(self, facts, exit_code, report):
        self.rows = [Row(row) for row in facts["rows"]]
        self.steps = facts["steps"]
        self.verdicts = {verdict["id"]: verdict["verdict"] for verdict in facts["verdicts"]}
        self.failed = [verdict for verdict in facts["verdicts"] if verdict["fails"]]
        # What could not be seen, a sentence each.
        self.unseen = facts["unseen"]
        self.semantics = facts["settings"]["semantics"]
        self.versions = facts["versions"]
        self.exit_code = exit_code
        # What a terminal shows, with all that the script printed.
        self.report = report

    def row(self, index):
        """In the order in which they were trained."""
        if not -len(self.rows) <= index < len(self.rows):
            raise IndexError("the ledger has %d rows, and row %d is asked for" % (len(self.rows), index))
        return self.rows[index]

    def __bool__(self):
        return self.exit_code == 0

    def __repr__(self):
        said = ["%s: %s: %s" % (each["id"], each["verdict"], each["sentence"]) for each in self.failed]
        facts = "%d rows in %d steps, exit code %d" % (len(self.rows), len(self.steps), self.exit_code)
        return "<ledger of %s%s>" % (facts, "".join("\n  " + line for line in said + self.unseen))


def trace(script, *args, **options):
    """Runs `python SCRIPT ARGS...` as it is until its first steps are made, and returns its Ledger.

    steps (2), keep_going (False), python (this one), cwd, env (over this process's), and options of `lossproof trace`: dataset,
    train_on, tokenizer, marks, semantics, only, level, known, mode. `script` may also be a whole command, as a list.
    Raises NotTraced, an AssertionError, where nothing was seen of a training, or an option cannot be meant."""
    python = options.pop("python", None) or sys.executable
    cwd, variables = options.pop("cwd", None), options.pop("env", None) or {}
    steps, keep_going = options.pop("steps", None), options.pop("keep_going", False)
    unknown = sorted(set(options) - set(_TOLD))
    if unknown:
        raise TypeError("trace has no option %s; it has steps, keep_going, python, cwd, env, %s" % (unknown[0], ", ".join(_TOLD)))
    words = [os.fspath(word) for word in script] if isinstance(script, (list, tuple)) else [python, os.fspath(script)]
    typed = [] if steps is None else ["--steps", str(steps)]
    typed += ["--keep-going"] if keep_going else []
    for name, value in options.items():
        typed += ["--" + name.replace("_", "-"), value if isinstance(value, str) else _text(value)]
    with tempfile.TemporaryDirectory(prefix="lossproof-") as folder:
        file = os.path.join(folder, "ledger.json")
        out = ["--ledger", file, "--no-annotations"]
        command = engine_command(["trace"] + out + typed + ["--"] + words + [str(arg) for arg in args])
        code, report = _run(command, cwd, dict(engine_environment(), LOSSPROOF_TIED="1", **variables))
        # Where pytest shows it if the test fails.
        sys.stdout.write(report)
        if not os.path.exists(file):
            raise NotTraced("lossproof trace has no ledger (exit code %d):\n%s" % (code, report.strip()))
        with open(file, encoding="utf-8") as opened:
            ledger = Ledger(json.load(opened), code, report)
    if not ledger.rows and code != 0:
        raise NotTraced("lossproof trace saw nothing that was trained (exit code %d):\n%s" % (code, report.strip()))
    return ledger


def _text(value):
    return os.fspath(value) if hasattr(value, "__fspath__") else json.dumps(value)


def _run(command, cwd, env):
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
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
