"""`lossproof.check`: one run of the engine, of a command or of functions of this process, and its result as an object."""

import os
import sys
import threading

from . import relay
from ._declared import names
from ._engine import Engine
from ._inside import Inside
from ._seed import seed_of


class Verdict:
    """What became of one property."""

    def __init__(self, facts):
        self.id = facts["id"]
        self.title = facts["title"]
        self.level = facts["level"]
        # pass, fail, error, ask, thin, changed, stale, unseen, known, unsupported, skipped, interrupted
        self.verdict = facts["verdict"]
        self.fails = facts["fails"]
        self.judged = facts["judged"]
        self.cases = facts["cases"]
        self.sentence = facts["sentence"]
        # The smallest case and how it was found, as in docs/events.md; None where nothing failed.
        self.failure = facts.get("failure")

    def __repr__(self):
        return "<%s: %s%s>" % (self.id, self.verdict, ": " + self.sentence if self.sentence else "")


class Result:
    """True where everything that was judged holds, and something was. Shows itself in a cell of a notebook."""

    def __init__(self, trainer, seed, verdicts, text, html):
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
    def failed(self):
        return [verdict for verdict in self.verdicts if verdict.fails]

    def __bool__(self):
        whole = not any(verdict.verdict == "interrupted" for verdict in self.verdicts)
        return whole and not self.failed and any(verdict.judged for verdict in self.verdicts)

    def __repr__(self):
        return self.text.strip()

    def _repr_html_(self):
        return self.html


_NOTHING = "Nothing was checked: no property judged a case, and what was not judged is no pass."


def check_command(command, asked, cases, seed):
    words = command if isinstance(command, str) else [os.fspath(word) for word in command]
    engine = Engine()
    try:
        return _run(engine, dict(asked, command=words), cases, seed_of(seed))
    finally:
        engine.close()


def check_functions(answer, asked, cases, seed):
    """`answer`: a request line (bytes) to an answer line (text)."""
    seed = seed_of(seed)
    inside = Inside(answer)
    engine = Engine({relay.SECRET: inside.secret})
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
