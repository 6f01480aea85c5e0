"""What this run of a twin is asked to be, by the environment."""

import json
import os

from . import _arguments, _batches, _network, _pins
from ._told import Told


def asked():
    """{"change": name or None, "dropout": keep it, "noise": move the weights by their rounding, "half": the type of its autocast, "signs": write
    those of the gradients, "more": further steps of what can go on from a checkpoint, "keeps": save where the script says, "checkpoint": folder, "at": the
    step after which it is saved}; None: no twin runs."""
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
    told = Told(session, given.get("change"), given)

    def torch(module):
        from . import _install

        _install.install(session, module, given, told)

    def after(name, hook):
        traced = waiting.get(name, lambda module: None)
        waiting[name] = lambda module: (traced(module), hook(module))

    _pins.begin()
    after("torch", torch)
    after("socket", lambda module: _network.install(session, module))
    after("numpy", _pins.numpy)
    after("torch.utils.data.dataloader", lambda module: _batches.install(told, module))
    after("transformers.training_args", lambda module: _arguments.install(told, module))
    if given.get("change") == "resume":
        after("transformers.trainer", lambda module: _arguments.install_resuming(told, module))
