"""Deliberately wrong trainers, one wrong function each, that prove the properties' teeth.

`python -m trainproof.examples.mutants ID`; `--list` prints them as JSON. Each docstring names the mistake."""

from ..variants import Variants

MUTANTS = Variants()

from . import batches, losses, masks, numbers, policy, ratios, scores, steps, texts  # noqa: E402,F401  (each adds its own)
