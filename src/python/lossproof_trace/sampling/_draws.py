"""The functions that draw tokens: torch.multinomial, which distributions go through too, argmax, and the noise that is added for
it. They are wrapped once a language model is called without training; what they return is what they returned."""

import functools

import torch

from . import _chosen

NOISE = ("exponential_",)
UNIFORM = ("rand_like", "rand")


def install(session, decoding):
    """Returns a function that puts the wrappers in when it is called for the first time."""
    done = []

    def put():
        if done or session.one_graph:
            return
        done.append(True)
        is_compiling = torch.compiler.is_compiling if hasattr(torch, "compiler") else (lambda: False)

        def wrap(owner, name, saw):
            original = getattr(owner, name)

            @functools.wraps(original)
            def wrapped(*args, **kwargs):
                result = original(*args, **kwargs)
                if is_compiling() or session.ended is not None or session.looking:
                    return result
                if session.generating > 0:
                    if name == "multinomial":
                        with session.guard("draw"):
                            _chosen.drew(args, kwargs, result)
                else:
                    with session.guard("draw"):
                        saw(args, kwargs, result)
                        return result
                    decoding.misjudged()
                return result

            setattr(owner, name, wrapped)

        for owner in (torch, torch.Tensor):
            wrap(owner, "multinomial", functools.partial(multinomial, decoding))
            wrap(owner, "argmax", functools.partial(argmax, decoding))
        for name in NOISE:
            wrap(torch.Tensor, name, functools.partial(noise, decoding))
        for name in UNIFORM:
            wrap(torch, name, functools.partial(noise, decoding))

    return put


def multinomial(decoding, args, kwargs, result):
    p = args[0] if args else kwargs.get("input")
    if not isinstance(p, torch.Tensor) or result.numel() == 0 or p.ndim not in (1, 2):
        return
    picks, p = result.reshape(-1, result.shape[-1]), p.reshape(-1, p.shape[-1])
    if picks.shape[1] > 1:
        if p.shape[0] != 1:
            return
        # Several of one row.
        picks, p = picks.reshape(-1, 1), p.expand(picks.shape[1], -1)
    decoding.drew(p, picks[:, 0], picks.shape[0])


def argmax(decoding, args, kwargs, result):
    scores = args[0] if args else kwargs.get("input")
    axis = kwargs.get("dim", kwargs.get("axis", args[1] if len(args) > 1 else None))
    if not isinstance(scores, torch.Tensor) or scores.ndim == 0 or not scores.is_floating_point():
        return
    if axis is None and scores.numel() != scores.shape[-1]:
        return
    if axis in (None, -1, scores.ndim - 1):
        decoding.chose(scores.reshape(1, -1) if scores.ndim == 1 else scores, result)


def noise(decoding, args, kwargs, result):
    decoding.noise(result)
