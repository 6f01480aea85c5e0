"""`watch` and `watch_sample`: what a script says of itself where its model, or what it samples, is not found.

    import lossproof_trace
    lossproof_trace.watch(model, head=model.unembed, ids="tokens")
    lossproof_trace.watch_sample(prompt_ids, completion_ids, temperature=0.8)
"""

from .models import _models
from .recording import _session
from .sampling import _declared


def watch(model, head=None, ids=None):
    """Says that `model`, a torch module, is a language model. `head`: the module inside whose output are its logits (B, T, V)
    before anything else is done to them; without it, what `model` returns is looked at. `ids`: name or place of the
    argument that holds the token ids (B, T). Returns `model`. Without `lossproof trace` it does nothing."""
    return _models.watch(model, head, ids)


def watch_sample(prompt_ids, completion_ids, temperature=None, eos_token_id=None):
    """Says that `completion_ids` were sampled behind `prompt_ids`. See __init__.py."""
    session = _session.current()
    with session.guard("watch_sample"):
        _declared.sample(session, prompt_ids, completion_ids, temperature, eos_token_id)
