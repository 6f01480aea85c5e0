"""torch.compile while the script is traced: what it was called on runs as it was written, uncompiled, so that its inside can be
seen; or, where the user keeps it compiled, is counted, because compiled modules may run without their hooks.

A module comes back wrapped as ever (`_orig_mod` is there), and its call is that of the module inside; a function comes back as
it is, as with TORCHDYNAMO_DISABLE. What torch itself compiles to save memory (flex_attention) stays compiled.
"""

import functools
import os

KEEP = "LOSSPROOF_TRACE_COMPILED"

# Functions of torch that are made to be compiled: uncompiled they hold all scores of all pairs of positions.
OF_TORCH = "torch.nn.attention"


def install(session, torch):
    original = getattr(torch, "compile", None)
    if original is None:
        return
    keep = os.environ.get(KEEP) == "1"

    @functools.wraps(original)
    def compile(model=None, *args, **kwargs):
        if model is None:
            # As a decorator with arguments.
            return lambda function: compile(function, *args, **kwargs)
        if str(getattr(model, "__module__", "")).startswith(OF_TORCH) and not isinstance(model, torch.nn.Module):
            return original(model, *args, **kwargs)
        with session.guard("torch.compile"):
            # Of a method, the module or optimiser that it belongs to.
            subject = getattr(model, "__self__", model)
            name = getattr(subject, "__name__", type(subject).__name__)
            if not keep:
                if isinstance(model, torch.nn.Module):
                    tell(session, name)
                    return wrapped(original, model)
                if hasattr(model, "__self__"):
                    tell(session, name)
                    return model
                return telling(session, name, model)
            session.compiled.append(name)
            # Read by hooks while a graph is made, so that it must be known before.
            session.one_graph = session.one_graph or bool(kwargs.get("fullgraph", False))
        return original(model, *args, **kwargs)

    torch.compile = compile


def wrapped(original, model):
    # A backend that needs no import of a compiler, and is never asked.
    outside = original(model, backend="eager")
    object.__setattr__(outside, "forward", model.__call__)
    return outside


def telling(session, name, function):
    """Libraries compile functions that nobody calls: it is told when one is."""

    @functools.wraps(function)
    def told(*args, **kwargs):
        tell(session, name)
        return function(*args, **kwargs)

    return told


def tell(session, name):
    with session.guard("torch.compile"):
        session.uncompiled = True
        session.blind(
            "uncompiled",
            "torch.compile was called (on %s): what it compiles ran uncompiled while it was traced, as it is written. "
            "--keep-compiled keeps it compiled, and then hides what happens inside of it." % name,
        )
