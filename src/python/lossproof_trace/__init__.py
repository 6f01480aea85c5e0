"""The tracer of `npx lossproof trace`: records what a training script trains, from inside its process.

A package of its own, beside `lossproof`: that one answers the harness, this one is loaded into a script that knows nothing of it.
Importing this costs nothing; torch is touched only once the script has imported it. Two things are to be called: `watch`,
for models written by hand whose head is not found by itself, and `watch_sample`, for samplers that are not seen (a server,
an engine in another process). Without `lossproof trace` they do nothing.

Folders, each of which may import those before it, and none behind it: recording, workers, gradient, models, forward, script, sampling,
steps, twins. Above them lie `_arm`, which puts their hooks in as the script imports torch and transformers, and `_watch`; `bootstrap` is
on the traced script's path and imports `_arm` alone. Importing a folder imports none of its files: which ones a process pays for,
`_arm` decides.
"""

__all__ = ["watch", "watch_sample"]


def watch(model, head=None, ids=None):
    """Says that `model`, a torch module, is a language model, for one that is not found by itself. `head`: the module whose
    output are its logits (B, T, V); `ids`: name or place of the argument that holds the token ids (B, T). Returns `model`."""
    from .recording import _session

    if _session.current() is None:
        return model
    from ._watch import watch as watch_model

    return watch_model(model, head, ids)


def watch_sample(prompt_ids, completion_ids, temperature=None, eos_token_id=None):
    """Says that `completion_ids` were sampled behind `prompt_ids`: lists of token ids without padding, the stop token
    included where there is one. Several rows at once are lists of such lists; one prompt may have several completions.
    `temperature`: that of the sampling, None where it is not known or greedy. `eos_token_id`: what stops, one id or
    several; by default that of the script's tokenizer."""
    from .recording import _session

    if _session.current() is None:
        return
    from ._watch import watch_sample as tell

    tell(prompt_ids, completion_ids, temperature, eos_token_id)
