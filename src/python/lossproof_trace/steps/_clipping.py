"""Clipping of gradients: what it was given, and when."""

import functools
import math
import types

from ..recording import _frames
from . import _held


def watch(session, torch, backwards, scalers):
    """`torch.nn.utils` is looked at when it is called; scripts import from it behind this."""
    for name in ("clip_grad_norm_", "clip_grad_value_"):
        original = getattr(torch.nn.utils, name, None)
        if original is None:
            continue
        watched = _watched(session, torch, original, name, backwards, scalers)
        setattr(torch.nn.utils, name, watched)
        module = getattr(torch.nn.utils, "clip_grad", None)
        if module is not None:
            setattr(module, name, watched)


# Since the latest step: (place, name, ids of the tensors, bound, backward passes by then, scale, what they are).
made = []


def kind_of(given, holders):
    """How many have a gradient, and the sizes of those that no optimiser holds: copies have those of what they are copies of."""
    with_gradient = [each for each in given if (each.is_leaf or each.retains_grad) and each.grad is not None]
    return {"gradients": len(with_gradient), "sizes": None if holders else sorted(each.numel() for each in with_gradient)}


def _watched(session, torch, original, name, backwards, scalers):
    @functools.wraps(original)
    def clip(parameters, *args, **kwargs):
        bound = math.inf
        with session.guard("clipping"):
            if not isinstance(parameters, torch.Tensor) and not isinstance(parameters, (list, tuple)):
                generator = isinstance(parameters, types.GeneratorType)
                parameters = list(parameters)
                given = parameters
                # torch warns of a generator that is used up, and of no list.
                parameters = (each for each in given) if generator else parameters
            else:
                given = [parameters] if isinstance(parameters, torch.Tensor) else parameters
            bound = args[0] if args else kwargs.get("max_norm", kwargs.get("clip_value"))
            bound = float(bound) if bound is not None else math.inf
            if math.isfinite(bound):
                holders = _held.holders(given)
                scale = scalers.still_on(holders)
                kind = kind_of(given, holders)
                made.append((_frames.place(), name, {id(each) for each in given}, bound, backwards.since, scale, kind))
                del made[:-64]
            for listener in session.before_clip:
                listener(session)
        result = original(parameters, *args, **kwargs)
        with session.guard("clipping"):
            for listener in session.after_clip:
                listener(session, name, bound, result)
        return result

    return clip


def told(session, pending, backwards):
    """Events of the clipping before this step, against the tensors of the optimiser that have a gradient."""
    sizes = None
    for place, name, given, bound, passes, scale, kind in made:
        if kind["sizes"] is not None and sizes is None:
            sizes = sorted(tensor.numel() for _, tensor, norm in pending.labelled if norm)
        left = [label for label, tensor, norm in pending.labelled if norm and id(tensor) not in given]
        session.write(
            "event",
            what="clip",
            step=session.step,
            model=pending.models[0] if pending.models else None,
            place=place,
            names=left[:256],
            values={
                "function": name,
                "bound": bound,
                "given": len(given),
                "gradients": kind["gradients"],
                "copies": bool(sizes) and kind["sizes"] == sizes,
                "left": len(left),
                "of": sum(1 for _, _, norm in pending.labelled if norm),
                "passes": passes,
                "of_passes": backwards.since,
                "scale": scale,
                "held": sum(1 for _, tensor, _ in pending.labelled if id(tensor) in given),
            },
        )
