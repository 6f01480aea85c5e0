"""The command: one mutant by its id, or the list of all."""

import sys

from .loading import load, load_all
from .registry import MUTANTS

if len(sys.argv) == 2 and sys.argv[1] != "--list":
    load(sys.argv[1])
else:
    load_all()
MUTANTS.main("mutants")
