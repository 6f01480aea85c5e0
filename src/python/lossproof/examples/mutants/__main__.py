"""The command: one wrong trainer by name, or the list of them."""

from . import MUTANTS

MUTANTS.main("lossproof.examples.mutants")
