"""The tracer of `npx lossproof trace`: records what a training script trains, from inside its process.

A package of its own, beside `lossproof`: that one takes stdout over for its protocol, which a traced script must keep.
Importing this costs nothing; torch is touched only once the script has imported it. The one thing to call is `watch`,
for models written by hand whose head is not found by itself; without `lossproof trace` it does nothing.

Folders, each of which may import those before it, and none behind it: recording, gradient, models, forward, script. Above
them lie `_arm`, which puts their hooks in as the script imports torch and transformers, and `_watch`; `bootstrap` is on the
traced script's path and imports `_arm` alone. Importing a folder imports none of its files: which ones a process pays for,
`_arm` decides.
"""

__all__ = ["watch"]


def watch(model, head=None, ids=None):
    """Says that `model`, a torch module, is a language model, for one that is not found by itself. `head`: the module whose
    output are its logits (B, T, V); `ids`: name or place of the argument that holds the token ids (B, T). Returns `model`."""
    from .recording import _session

    if _session.current() is None:
        return model
    from ._watch import watch as watch_model

    return watch_model(model, head, ids)
