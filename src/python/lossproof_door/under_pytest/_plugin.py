"""pytest's plugin: `pytest --lossproof adapter.py` is one test per property, grouped by stage.

Each process of xdist has an engine and trainers of its own; what they share is the seed. Items are _items, whom
`--lossproof` means _sources."""

import pytest
from _pytest.doctest import DoctestModule

from .._declared import NoSuchOption, Properties
from .._engine import EngineProblem
from .._node import NoNode, engine_command
from ._items import RUN, UNJUDGED, VERDICT, Declared, Listed, NotAModule
from ._lacking import Other
from ._options import add_options
from ._run import Run
from ._sources import NoSource, source_of

SEED = "lossproof_seed"
_JUDGED = ("pass", "known", "fail", "error", "ask", "thin", "changed", "stale")


def pytest_addoption(parser):
    add_options(parser)


def pytest_configure(config):
    config.addinivalue_line("markers", "lossproof: a property of a trainer, tested by lossproof")
    try:
        sources, left_out = _sources(config)
        run = Run(config, sources, left_out, getattr(config, "workerinput", {}).get(SEED))
        if sources:
            engine_command(["session"])
            _ = run.seed
    except NoNode as error:
        raise pytest.UsageError("lossproof: %s" % error)
    except (NoSource, ValueError) as error:
        raise pytest.UsageError(str(error))
    if config.getoption("lossproof_known") is not None and len(sources) > 1:
        raise pytest.UsageError(_KNOWN_OF_WHOM)
    if config.getoption("lossproof_cases") is not None and config.getoption("lossproof_cases") < 1:
        raise pytest.UsageError("--lossproof-cases must be a whole number above 0")
    for name in ("op", "hello"):
        seconds = config.getoption("lossproof_%s_timeout" % name)
        if seconds is not None and not 0 < seconds < float("inf"):
            raise pytest.UsageError("--lossproof-%s-timeout must be a number of seconds above 0" % name)
    setattr(config, RUN, run)
    config.pluginmanager.register(Tally(), "lossproof tally")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Other(asked=bool(sources)), "lossproof other")
    # What is tested is collected like any file that is named; where some of them are named, they are all that is meant.
    named = _named(config)
    if not any(source.path.resolve() in named for source in sources):
        config.args.extend(dict.fromkeys(str(source.path) for source in sources))


_KNOWN_OF_WHOM = (
    "--lossproof-known is a list of one trainer's failures, and several are tested; "
    "run them one by one, or write `known` beside each `trainer` in lossproof.config.json"
)


def _named(config):
    """The files of the command line, those of single tests included."""
    folder = config.invocation_params.dir
    return {(folder / str(arg).split("::")[0]).resolve() for arg in config.args}


def _sources(config):
    """Whom `--lossproof` names; else the adapters of pytest's own configuration, and which of those are left out: where the
    user has named files, those that are none of them."""
    typed, folder, root = config.getoption("lossproof"), config.invocation_params.dir, config.rootpath
    if typed is not None:
        return [source_of(text, folder, root) for text in dict.fromkeys(typed)], []
    written = config.getini("lossproof")
    if not written or config.inipath is None:
        return [], []
    sources = [source_of(text, config.inipath.parent, root) for text in written]
    named = _named(config)
    meant = [source for source in sources if source.path.resolve() in named]
    if not meant and (not _names_files(config) or folder.resolve() in named):
        meant = sources
    return meant, [source for source in sources if source not in meant]


def _names_files(config):
    """Whether the user has named any, and pytest has not taken its own."""
    source = getattr(config, "args_source", None)  # pytest 7.2
    return bool(config.option.file_or_dir) if source is None else source is config.ArgsSource.ARGS


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """xdist: every worker draws the same cases. What is no seed each complains of itself, where it is used."""
    try:
        node.workerinput[SEED] = getattr(node.config, RUN).seed
    except ValueError:
        pass


def pytest_report_header(config):
    run = getattr(config, RUN)
    if not run.sources:
        return None
    cases = config.getoption("lossproof_cases")
    facts = ["seed %d" % run.seed] + ([] if cases is None else ["%d cases per property" % cases])
    return "lossproof: %s; %s" % (", ".join(source.words for source in run.sources), ", ".join(facts))


def pytest_report_collectionfinish(config):
    return getattr(config, RUN).opened_words()


def pytest_terminal_summary(terminalreporter, config):
    left_out = getattr(config, RUN).left_out
    if left_out:
        names = ", ".join(source.words for source in left_out)
        terminalreporter.write_line(_LEFT_OUT % (names, config.inipath.name), yellow=True)


_LEFT_OUT = "lossproof: not tested, because other files are named: %s of %s; name them as well, or no file"


@pytest.hookimpl(hookwrapper=True)
def pytest_collect_file(file_path, parent):
    """An adapter that is named is no file of tests, and none of doctests: importing it would have it answer a harness."""
    collected = yield
    sources = getattr(parent.config, RUN).sources_of(file_path)
    if sources:
        others = [node for node in collected.get_result() if not isinstance(node, DoctestModule)]
        collected.force_result([Listed.from_parent(parent, path=file_path, sources=sources)] + others)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path, parent):
    if not getattr(parent.config, RUN).sources_of(module_path):
        return None
    patterns = parent.config.getini("python_files")
    if any(module_path.match(pattern) for pattern in patterns):
        return None
    return NotAModule.from_parent(parent, path=module_path)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, name, obj):
    return Declared.from_parent(collector, name=name, declared=obj) if type(obj) is Properties else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What is named and lies in a folder that is named, too, is tested once."""
    seen = set()
    kept = []
    for item in items:
        ours = item.get_closest_marker("lossproof") is not None
        if ours and item.nodeid in seen:
            continue
        if ours:
            seen.add(item.nodeid)
        kept.append(item)
    items[:] = kept


class Tally:
    """How many properties were tested, and how many of those judged: in all processes, for reports come to the first.
    And of each adapter in each process, what none of its properties could judge, as the last of them knows it."""

    def __init__(self):
        self.tested = {}
        self.unjudged = {}

    @property
    def idle(self):
        return bool(self.tested) and not any(self.tested.values())

    def pytest_runtest_logreport(self, report):
        said = dict(report.user_properties)
        verdict = said.get(VERDICT)
        if report.when == "call" and verdict is not None:
            self.tested[report.nodeid] = verdict in _JUDGED
        if report.when == "call" and UNJUDGED in said:
            words, sentences = said[UNJUDGED]
            self.unjudged[getattr(report, "worker_id", None), words] = sentences

    def pytest_sessionfinish(self, session):
        if self.idle and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if self.idle:
            terminalreporter.write_line(_NOTHING, red=True)
        told = {(words, sentence) for (_, words), sentences in self.unjudged.items() for sentence in sentences}
        for words, sentence in sorted(told):
            terminalreporter.write_line("lossproof: %s: %s" % (words, sentence), yellow=True)


_NOTHING = "lossproof: nothing was checked: no property judged a case, and what was not judged is no pass"


def pytest_unconfigure(config):
    run = getattr(config, RUN, None)
    if run is not None:
        run.close()


@pytest.fixture
def lossproof_hold(request):
    """`lossproof_hold("python adapter.py", "mask/*", "kl")`: these properties hold, or the test fails with what is wrong."""
    run = getattr(request.config, RUN)

    def hold(command, *what, **options):
        __tracebackhide__ = True
        try:
            held = run.hold(command, what, options)
        except (EngineProblem, NoNode, NoSuchOption, ValueError) as error:
            pytest.fail(str(error), pytrace=False)
        if held["kind"] != "holds":
            pytest.fail(held["words"], pytrace=False)

    return hold
