"""Makes this run the one of a twin that it was asked to be."""

from ..models import _models as known
from . import _batches, _models, _noise, _pins, _witness
from ._told import Told


def install(session, torch, asked, told):
    """torch is imported."""
    _pins.torch(torch)
    drops = Told(session, "dropout", what="dropout")
    _pins.dropout(torch, drops.applied, asked.get("dropout", True))
    change = asked.get("change")
    if asked.get("noise"):
        _noise.install(session, torch)
    if change in _batches.OF_BATCHES:
        session.change_batch = lambda batch: _batches.OF_BATCHES[change](torch, told, batch)
    if change in _models.CHANGES:

        def made(model):
            if model.kind == "hf" and model.root is not None:
                with session.guard("change of the model"):
                    _models.CHANGES[change](told, model.root)

        known.on_made.append(made)
    _witness.Witness(session, torch)

