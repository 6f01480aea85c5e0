"""Puts the tracer around the calls of the script's modules, and gives each call of a language model its Forward: by what the
model says of itself, or, of one that says nothing, by what is seen of it."""

from . import _calls
from ._by_hand import by_hand
from ._forward import Forward
from ._told import name_of


def install(session):
    # All modules that the wrapper can reach are loaded by now: the compiler is told here which frames are the tracer's.
    _calls.install(session, make)


def make(session, frame, head=None, result=None):
    """The Forward of a call, or None where nothing can be said of it. `head`: a model written by hand called it."""
    if frame.model is None:
        if head is not None or result is not None:
            return by_hand(session, frame, head, result)
        return None
    if frame.ids is None:
        if frame.named.get("inputs_embeds") is not None:
            session.blind("embeds", "%s was given embeddings in place of token ids: its rows cannot be shown." % name_of(frame.model))
        return None
    return Forward(session, frame, frame.model, int(vocab_of(session, frame.model)))


def vocab_of(session, model):
    return session.vocabularies.get(model.index) or 0
