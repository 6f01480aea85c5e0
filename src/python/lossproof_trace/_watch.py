"""`watch`: the one call for a script whose model is not found by itself.

    import lossproof_trace
    lossproof_trace.watch(model, head=model.unembed, ids="tokens")
"""

from .models import _models


def watch(model, head=None, ids=None):
    """Says that `model`, a torch module, is a language model. `head`: the module inside whose output are its logits (B, T, V)
    before anything else is done to them; without it, what `model` returns is looked at. `ids`: name or place of the
    argument that holds the token ids (B, T). Returns `model`. Without `lossproof trace` it does nothing."""
    return _models.watch(model, head, ids)
