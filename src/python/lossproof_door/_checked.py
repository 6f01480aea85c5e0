"""`lossproof.check`: one run of the engine, of a command or of functions of this process, and its result as an object."""

from __future__ import annotations

import os
import sys
import threading
from html import escape

from . import relay
from ._ctrl_c import CtrlC
from ._declared import names
from ._engine import Engine
from ._inside import Inside
from ._seed import seed_of

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class Verdict:
    """What became of one property."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.id: str = facts["id"]
        self.title: str = facts["title"]
        self.level: str = facts["level"]
        # pass, fail, error, ask, thin, changed, stale, unseen, known, unsupported, skipped, interrupted
        self.verdict: str = facts["verdict"]
        self.fails: bool = facts["fails"]
        self.judged: bool = facts["judged"]
        self.cases: int = facts["cases"]
        self.sentence: str = facts["sentence"]
        # The smallest case and how it was found, as in docs/events.md; None where nothing failed.
        self.failure: dict[str, Any] | None = facts.get("failure")

    def __repr__(self) -> str:
        return "<%s: %s%s>" % (self.id, self.verdict, ": " + self.sentence if self.sentence else "")

    def _repr_html_(self) -> str:
        facts = [escape(text) for text in (self.id, self.verdict, self.title, self.sentence)]
        return "<p><code>%s</code> <b>%s</b> %s<br>%s</p>" % tuple(facts)


class Result:
    """True where everything that was judged holds, and something was. Shows itself in a cell of a notebook."""

    def __init__(self, trainer: str, seed: int, verdicts: Sequence[Verdict], text: str, html: str) -> None:
        self.trainer = trainer
        self.seed = seed
        self.verdicts = verdicts
        # As on a terminal.
        self.text = text
        self.html = html
        if not any(verdict.judged for verdict in verdicts):
            self.text = "%s\n\n%s" % (_NOTHING, text.strip())
            self.html = "<p>%s</p>%s" % (_NOTHING, html)

    @property
    def failed(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if verdict.fails]

    def __bool__(self) -> bool:
        whole = not any(verdict.verdict == "interrupted" for verdict in self.verdicts)
        return whole and not self.failed and any(verdict.judged for verdict in self.verdicts)

    def __repr__(self) -> str:
        return self.text.strip()

    def _repr_html_(self) -> str:
        return self.html


KEYWORD = "{keyword}"
_NOTHING = "Nothing was checked: no property judged a case, and what was not judged is no pass."


def check_command(command, asked, cases, seed):
    words = command if isinstance(command, str) else [os.fspath(word) for word in command]
    engine = Engine(KEYWORD)
    try:
        with CtrlC():
            return _run(engine, dict(asked, command=words), cases, seed_of(seed))
    finally:
        engine.close()


def check_functions(answer, asked, cases, seed):
    """`answer`: a request line (bytes) to an answer line (text)."""
    seed = seed_of(seed)
    inside = Inside(answer)
    try:
        engine = Engine(KEYWORD, {relay.SECRET: inside.secret})
    except BaseException:
        inside.close()
        raise
    # Nothing is saved: no command starts these functions again.
    request = dict(
        asked,
        command=[sys.executable, relay.__file__, str(inside.port)],
        called="functions of process %d" % os.getpid(),
        keep=False,
        again="lossproof.check(..., seed={seed})",
    )
    done = threading.Event()
    outcome = {}

    def run():
        try:
            outcome["result"] = _run(engine, request, cases, seed)
        except BaseException as error:  # it is raised where the user is
            outcome["error"] = error
        finally:
            done.set()

    asking = threading.Thread(target=run, daemon=True)
    asking.start()
    try:
        inside.serve_until(done)
    finally:
        # After a Ctrl-C it is still asking: its engine ends, and its answer is that.
        engine.end()
        asking.join()
        engine.close()
        inside.close()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def _run(engine, request, cases, seed):
    request = dict(request, only=names(request["only"]))
    if request.get("known") is not None:
        request["known"] = os.path.abspath(os.fspath(request["known"]))
    opened = engine.ask("open", cwd=os.getcwd(), **request)
    ran = engine.ask("run", of=opened["of"], seed=seed, cases=cases)
    return Result(opened["trainer"], seed, [Verdict(facts) for facts in ran["verdicts"]], ran["text"], ran["html"])
