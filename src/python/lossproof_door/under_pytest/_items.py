"""Properties as pytest's tree: a file or a declaration, its stages, and a test per property."""

import sys

import pytest
from _pytest._code.code import ReprEntryNative, ReprExceptionInfo, ReprFileLocation, ReprTraceback

from .._declared import names
from .._engine import EngineProblem
from .._node import NoNode
from ._sources import Source

# Where pytest keeps, for us, the run and what became of a property.
RUN = "_lossproof_run"
VERDICT = "lossproof verdict"
# And what no property of its adapter could judge so far, where that has changed.
UNJUDGED = "lossproof unjudged"


class Broken(Exception):
    """A property does not hold. `said`: what the engine says of it."""

    def __init__(self, said):
        super().__init__(said)
        self.said = said


class _Group(pytest.Collector):
    """Children that are made where their parent is."""

    make = None

    def collect(self):
        return self.make(self)


class Listed(pytest.File):
    """The adapters that `--lossproof` names and that stand in one file."""

    def __init__(self, *, sources, **kwargs):
        super().__init__(**kwargs)
        self.sources = sources

    def collect(self):
        if len(self.sources) == 1:
            return _stages(self, self.sources[0])
        return [_group(self, source.words, lambda node, source=source: _stages(node, source)) for source in self.sources]


class NotAModule(pytest.File):
    """In the place of the module that pytest would import."""

    def collect(self):
        return []


class Declared(pytest.Collector):
    """An adapter that lives in a test file, under the name that it has there."""

    def __init__(self, *, declared, **kwargs):
        super().__init__(**kwargs)
        self.declared = declared

    def collect(self):
        declared = self.declared
        source = Source(
            self.path,
            [sys.executable, "-m", "lossproof_door.adapter", str(self.path), self.name],
            self.config.rootpath,
            label=self.nodeid,
            only=names(declared.only),
            level=declared.level,
            known=None if declared.known is None else str(self.path.parent / declared.known),
            cases=declared.cases,
            strict=declared.strict,
        )
        return _stages(self, source)


class PropertyItem(pytest.Item):
    def __init__(self, *, source, facts, **kwargs):
        super().__init__(**kwargs)
        self.source = source
        self.facts = facts
        self.add_marker("lossproof")
        if "why" in facts:
            self.add_marker(pytest.mark.skip(reason="unsupported: %s" % facts["why"]))

    def runtest(self):
        result = _run(self).check(self.source, self.facts["id"])
        verdict, reason = result["verdict"], result.get("reason", "")
        self.user_properties.append((VERDICT, verdict))
        news = _run(self).news_of(self.source, result.get("unjudged", []))
        if news is not None:
            self.user_properties.append((UNJUDGED, [self.source.words, news]))
        if verdict == "pass":
            return
        if verdict == "known":
            pytest.xfail(reason)
        if result["fails"] or verdict in ("known", "interrupted"):
            # Known, and here: with --runxfail what is known to fail is to fail.
            raise Broken(result)
        raise pytest.skip.Exception("%s: %s" % (verdict, reason), _use_item_location=True)

    def repr_failure(self, excinfo, style=None):
        error = excinfo.value
        if isinstance(error, Broken):
            said = error.said
            text = said.get("text") or said.get("sentence") or said["verdict"]
            return _words(self, "%s: %s" % (said["verdict"], said.get("sentence", "")), text)
        if isinstance(error, (EngineProblem, NoNode)):
            return _words(self, str(error).split("\n")[0], str(error))
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, 0, "%s: %s" % (self.source.words, self.facts["id"])


class Wrong(pytest.Item):
    """Something that is wrong with what was asked, and no property says it."""

    def __init__(self, *, words, **kwargs):
        super().__init__(**kwargs)
        self.words = words
        self.add_marker("lossproof")

    def runtest(self):
        pytest.fail(self.words, pytrace=False)

    def reportinfo(self):
        return self.path, 0, self.name


# --- helpers ---

_NOTHING = "this trainer can be checked for nothing that was chosen; `lossproof doctor` says what it lacks"


def _run(node):
    return getattr(node.config, RUN)


def _group(parent, name, make):
    group = _Group.from_parent(parent, name=name)
    group.make = make
    return group


def _stages(parent, source):
    try:
        opened = _run(parent).open(source)
    except (EngineProblem, NoNode) as error:
        raise parent.CollectError("lossproof: %s" % error)
    stages = opened["stages"]
    children = [_group(parent, stage["stage"], lambda node, stage=stage: _properties(node, source, stage)) for stage in stages]
    wrong = [("known-failures", words) for words in opened["strangers"]]
    if not any(stage["properties"] for stage in stages):
        wrong.append(("something-is-checked", _NOTHING))
    return children + [Wrong.from_parent(parent, name=name, words=words) for name, words in wrong]


def _properties(parent, source, stage):
    begin = stage["stage"] + "/"
    return [
        PropertyItem.from_parent(
            parent,
            name=facts["id"][len(begin) :] if facts["id"].startswith(begin) else facts["id"],
            source=source,
            facts=facts,
        )
        for facts in stage["properties"] + stage["unsupported"]
    ]


def _words(item, sentence, text):
    """A failure as pytest carries it, also from a worker of xdist: the sentence for its summary, and the text in full."""
    place = ReprFileLocation(str(item.path), 1, sentence)
    return ReprExceptionInfo(
        reprcrash=place,
        reprtraceback=ReprTraceback(reprentries=[ReprEntryNative([text.rstrip("\n") + "\n"])], extraline=None, style="native"),
    )
