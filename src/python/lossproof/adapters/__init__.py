"""Ready-made adapters for trainers that are published as libraries. The list only: importing it loads no trainer.

Each adapter is a module to run, `python -m lossproof.adapters.trl.grpo`, and drives the library's own unmodified
trainer. The `adapter.json` of its folder says all that is known of it by name: module, title, tested requirements, and
the modules of the library that `lossproof mutate` changes. What adapters share lies in `common`, which they import and
which imports none of them."""

import json
import os

_HERE = os.path.dirname(os.path.abspath(__file__))


def _ready():
    """By name, over all folders."""
    found = {}
    for folder in sorted(os.listdir(_HERE)):
        path = os.path.join(_HERE, folder, "adapter.json")
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                found.update(json.load(file))
    return found


READY = _ready()
