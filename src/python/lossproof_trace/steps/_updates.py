"""Steps of optimisers by tensor: the `tensors` of a model once, and of each step an `update` with what became of each."""

import math
import weakref

from ..models import _models
from . import _held, _tensors

_told = weakref.WeakKeyDictionary()


def names_of(session, model):
    """[(name, parameter)], written as a record where it is not as it was."""
    named = list(model.root.named_parameters())
    names = [name for name, _ in named]
    if _told.get(model) != names:
        _told[model] = names
        session.write(
            "tensors",
            model=model.index,
            names=names,
            sizes=[int(_local(parameter).numel()) for _, parameter in named],
            dtypes=[str(parameter.dtype).replace("torch.", "") for _, parameter in named],
        )
    return named


def others(parameters, indexes):
    """Of these models, what the optimiser does not hold."""
    held = {id(parameter) for parameter in parameters}
    roots = [model.root for model in _models.known() if model.index in indexes and model.root is not None]
    seen = set()
    out = []
    for root in roots:
        for parameter in root.parameters():
            if id(parameter) not in held and id(parameter) not in seen:
                seen.add(id(parameter))
                out.append(parameter)
    return out


def label(session, pending):
    """[(name, tensor, norm)] of the models' tensors that the optimiser holds, for those who speak of them."""
    norms = {id(parameter): norm for parameter, norm in zip(pending.measured, pending.norms)}
    held = {id(parameter) for parameter in pending.parameters}
    pending.labelled = [
        (name, parameter, norms.get(id(parameter)))
        for model in _models.known()
        if model.index in pending.models and model.root is not None
        for name, parameter in names_of(session, model)
        if id(parameter) in held
    ]


def write(session, pending, moved):
    """`moved`: index into what was measured to whether it did, where that is known."""
    groups = {}
    for group in pending.optimizer.param_groups:
        for parameter in group["params"]:
            groups.setdefault(id(parameter), []).append((number(group.get("lr")), number(group.get("weight_decay", 0.0))))
    at = {id(parameter): index for index, parameter in enumerate(pending.measured)}
    for model in _models.known():
        if model.index not in pending.models or model.root is None:
            continue
        rows = []
        for position, (_, parameter) in enumerate(names_of(session, model)):
            index = at.get(id(parameter))
            if index is None:
                continue
            held = groups.get(id(parameter), [])
            peak, beside = pending.samples.peaks.get(index, (math.nan, math.nan)) if pending.samples is not None else (math.nan, math.nan)
            norm = pending.norms[index]
            rows.append(
                (
                    position,
                    math.nan if norm is None else norm,
                    peak,
                    beside,
                    {True: 1, False: 0}.get(moved.get(index), -1),
                    held[0][0] if held else math.nan,
                    held[0][1] if held else math.nan,
                    len(held),
                    int(parameter.requires_grad),
                )
            )
        if not rows:
            continue
        columns = list(zip(*rows))
        session.write(
            "update",
            model=model.index,
            step=pending.index,
            optimizer=_held.of(pending.optimizer).index,
            place=pending.place,
            **{name: array(columns[i], name in WHOLE) for i, name in enumerate(FIELDS)},
        )


FIELDS = ("tensors", "norms", "peaks", "beside", "moved", "rates", "decays", "held", "trainable")
WHOLE = ("tensors", "moved", "held", "trainable")


def array(values, whole):
    import torch

    return torch.tensor(values, dtype=torch.int32 if whole else torch.float64)


def number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def learning_rates(optimizer):
    rates = [number(group["lr"]) for group in optimizer.param_groups if "lr" in group]
    return [rate for rate in rates if math.isfinite(rate)]


def _local(tensor):
    return tensor.to_local() if hasattr(tensor, "to_local") else tensor
