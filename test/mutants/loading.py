"""Which module a mutant stands in. Hundreds are started one by one, and importing all of them takes as long as a start."""

import re
from importlib import import_module
from pathlib import Path

from .registry import MUTANTS

_HERE = Path(__file__).parent
_ROW = re.compile(r"^[A-Z]+-\d+-")


def load_all():
    for path in _paths():
        _load(path)


def load(asked):
    """So much of MUTANTS that it knows `asked`, where anything does. The modules that an id may stand in are those whose
    text holds its name; a row or a misspelt name needs all of them, to tell which is meant."""
    if asked in MUTANTS:
        return
    quoted = '"%s"' % _ROW.sub("", asked)
    for path in _paths():
        if quoted in path.read_text("utf-8"):
            _load(path)
    if asked not in MUTANTS:
        load_all()


def _paths():
    return sorted(_HERE.glob("*/[!_]*.py"))


def _load(path):
    before = set(MUTANTS)
    import_module("%s.%s.%s" % (__package__, path.parent.name, path.stem))
    for id in MUTANTS.keys() - before:
        MUTANTS[id].more["family"] = path.parent.name
