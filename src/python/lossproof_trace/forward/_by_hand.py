"""Models that do not say of themselves that they are language models: found by what they are called with, what is called
inside, and what they return."""

import torch

from ..models import _models, _owners
from . import _calls, _guesses, _results, _scores, _told
from ._forward import Forward


def by_hand(session, frame, head, result):
    core = _models.carried(frame.module)
    model = _models.find(core)
    if head is not None:
        vocab = getattr(head, "out_features", None) or 0
        if model is None:
            return Pending(session, frame, core, head)
        return Forward(session, frame, model, vocab or session.vocabularies.get(model.index))
    if model is not None and model.kind == "body":
        return None
    if model is not None and model.kind == "score":
        return _scores.scoring(session, frame, core, result)
    if _models.shown(core) is not None:
        return _guesses.told(session, frame, model, hidden_of(frame, result))
    sizes = {part.num_embeddings: part.embedding_dim for part in _models.embeddings(core)}
    # A model that the script names is one, even where it has no nn.Embedding to tell the size of its vocabulary.
    named = not sizes and _models.watched(core) is not None
    wider = {head.out_features: None for head in (frame.heads or {}).values() if hasattr(head, "out_features")}
    logits = _results.logits_in(result, frame.ids.shape, None if named else {**sizes, **wider})
    if logits is None and not sizes:
        most = int(frame.ids.max()) if frame.ids.numel() > 0 else 0
        tables = {vocab: width for vocab, width in _models.tables(core).items() if vocab > most}
        logits = _results.logits_in(result, frame.ids.shape, tables)
    if logits is not None:
        vocab = logits.shape[-1]
        if sizes.get(vocab) == vocab and frame.hidden is None:
            return None
        model = model or _models.add(session, core, "hand", vocab, device=frame.ids.device, seated=frame.seated)
        forward = Forward(session, frame, model, vocab)
        return forward
    return _scores.scoring(session, frame, core, result) or body_only(session, frame, core, result)


def body_only(session, frame, core, result):
    """The body of a Hugging Face model was called without its head: the loss will use the head's weight itself."""
    hidden = _calls.first_tensor(result)
    if not is_hidden(frame, hidden):
        scalar = _results.loss_in(result)
        if scalar is not None and core.training and _calls.compiled(frame.module):
            _told.blind_of(session, core, True)
        elif scalar is not None and not frame.claimed and core.training and frame.hidden is not None:
            return without_head(session, frame, core)
        return None
    owner = _owners.owner_of(session, core)
    model = None if owner is None else _models.find(owner)
    if model is None:
        return _guesses.guess(session, frame, core, hidden)
    forward = Forward(session, frame, model, session.vocabularies.get(model.index))
    forward.saw_hidden(hidden)
    return forward


def is_hidden(frame, value):
    fits = isinstance(value, torch.Tensor) and value.ndim == 3 and value.is_floating_point()
    return fits and value.shape[:2] == frame.ids.shape


def hidden_of(frame, result):
    """What a head reads: what the call returned, or, where that is a loss, the latest hidden states inside."""
    hidden = _calls.first_tensor(result)
    return hidden if is_hidden(frame, hidden) else frame.hidden


def without_head(session, frame, core):
    """A loss came out, and no head was called: which tensor it is, the gradient may say."""

    def failing():
        session.blind(
            "no-head",
            "%s was called with token ids and returned a loss, but no head with an output for each token of its "
            "vocabulary was seen. Call lossproof_trace.watch(model, head=...) in the script to name it." % type(core).__name__,
        )

    found = _guesses.guess(session, frame, core, frame.hidden, failing)
    if found is None:
        failing()
    return found


class Pending:
    """A model written by hand whose head was called: it becomes one when the call returns with enough logits."""

    def __init__(self, session, frame, core, head):
        self.session, self.frame, self.core, self.head_module = session, frame, core, head
        self.forward = None

    @property
    def model(self):
        return None if self.forward is None else self.forward.model

    def saw_hidden(self, hidden):
        self.hidden = hidden

    def saw_head(self, x, out):
        if out is None or not out.is_floating_point() or out.ndim < 2:
            return
        if self.forward is None:
            vocab = out.shape[-1]
            seated = self.frame.seated
            model = _models.add(self.session, self.core, "hand", vocab, self.head_module, self.frame.ids.device, seated)
            self.forward = Forward(self.session, self.frame, model, vocab)
            self.forward.saw_hidden(self.hidden)
        self.forward.saw_head(x, out)

    def returned(self, result):
        if self.forward is not None:
            self.forward.returned(result)
