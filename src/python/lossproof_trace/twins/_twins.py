"""What this run of a twin is asked to be, by the environment."""

import json
import os

from . import _arguments, _pins


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
    if change is not None:
        waiting["transformers.training_args"] = lambda module: _arguments.install(change, told, module)


class Told:
    """Says once that the change was made: a change that nothing was done for is not compared."""

    def __init__(self, session, change):
        self.session = session
        self.change = change
        self.said = False

    def applied(self, **values):
        if not self.said:
            self.said = True
            self.session.write(
                "event", what="twin", step=self.session.step, model=None, place=None, names=[self.change], values=values
            )
