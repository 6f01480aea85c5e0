"""Deliberately wrong trainers, one wrong function each, that prove the properties' teeth.

`python -m lossproof.examples.mutants ID`; `--list` prints them as JSON. Each docstring names the mistake."""

from importlib import import_module
from pkgutil import iter_modules

from ..variants import Variants

MUTANTS = Variants()

# Each module adds its own.
for module in iter_modules(__path__):
    if module.name != "__main__":
        import_module("%s.%s" % (__name__, module.name))
