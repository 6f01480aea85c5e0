"""Makes this run the one of a twin that it was asked to be."""

import sys

from ..models import _models as known
from . import _batches, _halves, _models, _noise, _packed, _pins, _witness
from ._told import Told


def install(session, torch, asked, told):
    """torch is imported."""
    _pins.torch(torch)
    drops = Told(session, "dropout", what="dropout")
    _pins.dropout(torch, drops.applied, asked.get("dropout", True))
    change, half = asked.get("change"), asked.get("half")
    precision = change == "precision"
    _halves.install(torch, Told(session, "half", what="half"), told if precision and half else None)
    if precision and not half:
        _halves.install_on(torch, told)
    if asked.get("noise"):
        each_model(session, _noise.install(session, torch, half))
    if change is None:
        look(session, torch)
    if change in _batches.OF_BATCHES:
        session.change_batch = lambda batch: _batches.OF_BATCHES[change](torch, told, batch)
    if change == "compile":
        session.before_step.append(lambda *_: told.applied() if compiles() else None)
    if change in _models.CHANGES:
        each_model(session, lambda root: _models.CHANGES[change](told, root))
    _witness.Witness(session, torch, asked.get("signs"))


def look(session, torch):
    """A run without a change says which changes there is something for."""
    could = {name: Told(session, name, what="could") for name in ("packing", "precision", "compile", *_models.COULD)}

    def batch_came(batch):
        if not could["packing"].said and _packed.is_packed(torch, batch):
            could["packing"].applied()
        return batch

    def model_came(root):
        for name, has in _models.COULD.items():
            if has(root):
                could[name].applied()

    def any_came(model):
        parameters = [] if model.root is None else [each.dtype for each in model.root.parameters()]
        if parameters and all(each is torch.float32 for each in parameters):
            could["precision"].applied()

    known.on_made.append(any_came)
    session.change_batch = batch_came
    session.before_step.append(lambda *_: could["compile"].applied() if session.uncompiled else None)
    each_model(session, model_came)


def each_model(session, change):
    """Of Hugging Face, before its first call."""

    def made(model):
        if model.kind == "hf" and model.root is not None:
            with session.guard("change of the model"):
                change(model.root)

    known.on_made.append(made)


def compiles():
    """torch's compiler made a graph: of what it cannot read, it makes none."""
    module = sys.modules.get("torch._dynamo.utils")
    counters = getattr(module, "counters", None) or {}
    return counters.get("frames", {}).get("ok", 0) > 0
