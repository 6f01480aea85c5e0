"""What one process of pytest knows of lossproof: whom it tests, with which seed, and the engine, started when it is needed."""

import os

from .._declared import check_names
from .._engine import Engine, EngineProblem
from .._seed import seed_of


_AGAIN = "pytest --lossproof-seed {seed}"


class Run:
    """`left_out`: whom pytest's configuration names, and the user does not. `given`: the seed of the process that started
    this worker."""

    def __init__(self, config, sources, left_out, given=None):
        self.config = config
        self.sources = sources
        self.left_out = left_out
        self._seed = given
        self._engine = None
        self._opened = {}
        self._words = {}
        self._unjudged = {}

    @property
    def seed(self):
        """Raises ValueError where what is given is no seed: whoever tests no trainer does not mind."""
        if self._seed is None:
            self._seed = seed_of(self.config.getoption("lossproof_seed"))
        return self._seed

    def sources_of(self, path):
        return [source for source in self.sources if source.path == path]

    def open(self, source):
        """What there is to test of it. Raises EngineProblem and NoEngine, the same each time."""
        if source not in self._opened:
            try:
                _ = self.seed  # before minutes are spent
                self._opened[source] = self._ask("open", **self._request(source))
            except EngineProblem as problem:
                self._opened[source] = problem
            except ValueError as error:
                self._opened[source] = EngineProblem(str(error))
        opened = self._opened[source]
        if isinstance(opened, EngineProblem):
            raise opened
        return opened

    def news_of(self, source, unjudged):
        """What no property of this adapter could judge, unless that was known; None where it was."""
        before, self._unjudged[source] = self._unjudged.get(source, []), unjudged
        return None if before == unjudged else unjudged

    def check(self, source, identity):
        opened = self.open(source)
        cases = source.options.get("cases") or self.config.getoption("lossproof_cases")
        return self._ask("check", of=opened["of"], property=identity, seed=self.seed, cases=cases)

    def hold(self, command, what, options):
        check_names("lossproof_hold", options, ("cases", "seed", "level", "strict", "known", "op_timeout", "hello_timeout"))
        words = command if isinstance(command, str) else [os.fspath(word) for word in command]
        asked = dict(self._judging(), seed=self.seed, cases=self.config.getoption("lossproof_cases"))
        asked.update(options)
        label = words if isinstance(words, str) else " ".join(words)
        return self._ask(
            "hold", command=words, what=list(what) or None, cwd=str(self.config.rootpath), label=label, again=_AGAIN, **asked
        )

    def opened_words(self):
        """A line for each trainer that has said its name."""
        told = [(source, opened) for source, opened in self._opened.items() if isinstance(opened, dict)]
        lines = []
        for source, opened in told:
            cases = source.options.get("cases") or self.config.getoption("lossproof_cases") or opened["cases"]
            lines.append('lossproof: %s: trainer "%s", %d cases per property' % (source.words, opened["trainer"], cases))
        return lines

    def close(self):
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()

    def _ask(self, do, **fields):
        if self._engine is None:
            self._engine = Engine("--lossproof-{option}", self._environment())
        return self._engine.ask(do, **fields)

    def _request(self, source):
        option = self.config.getoption
        only = option("lossproof_only")
        request = {
            "command": source.command,
            "cwd": str(source.cwd),
            "label": source.label,
            "only": None if only is None else [name for each in only for name in each.split(",") if name],
            "level": option("lossproof_level"),
            "known": self._known(source),
            **self._judging(),
            "trainer": option("lossproof_trainer") if source.command is None else None,
            "again": _AGAIN,
        }
        own = {key: value for key, value in source.options.items() if key != "cases" and value is not None}
        request.update(own)
        return request

    def _judging(self):
        """What is said of any trainer, whoever starts it."""
        return {name: self.config.getoption("lossproof_" + name) for name in ("strict", "op_timeout", "hello_timeout")}

    def _known(self, source):
        """That of the command line is of the trainer of the command line."""
        typed = self.config.getoption("lossproof_known")
        if typed is None or source not in self.sources:
            return None
        return str(self.config.invocation_params.dir / typed)

    def _environment(self):
        """Modules that tests find by pytest's `pythonpath` an adapter in a test file finds, too."""
        folders = [str(folder) for folder in self.config.getini("pythonpath")]
        if not folders:
            return {}
        return {"PYTHONPATH": os.pathsep.join(folders + [os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)}
