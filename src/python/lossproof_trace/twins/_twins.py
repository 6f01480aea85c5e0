"""What this run of a twin is asked to be, by the environment."""

import json
import os

from . import _arguments, _pins
from ._told import Told


def asked():
    """{"change": name or None, "dropout": keep it, "noise": move the weights by their rounding}; None: no twin runs."""
    text = os.environ.get("LOSSPROOF_TWIN")
    if not text:
        return None
    try:
        given = json.loads(text)
    except ValueError:
        return None
    return given if isinstance(given, dict) else None


def begin(session, waiting):
    """`waiting`: modules to hook({name: hook(module)}), before any of them is imported. Imports no torch."""
    given = asked()
    if given is None:
        return
    told = Told(session, given.get("change"))
    traced = waiting["torch"]

    def torch(module):
        from . import _install

        traced(module)
        _install.install(session, module, given, told)

    _pins.begin()
    waiting["torch"] = torch
    waiting["numpy"] = _pins.numpy
    change = _arguments.CHANGES.get(given.get("change"))
    waiting["transformers.training_args"] = lambda module: _arguments.install(change, told, given.get("keeps"), module)
