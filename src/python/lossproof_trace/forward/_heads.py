"""Which part of a model written by hand is its head. The embedding that is looked up with the ids is that of the tokens; the
head has an output for each of its rows, or a few more or less where one of the two was padded. Of several such parts it is
the one behind which no hidden states come any more: layers inside may happen to be as wide as the vocabulary."""

import torch

from ..models import _models

# A vocabulary is padded to a multiple of something: up to so much, or this share of it, is the same vocabulary.
PADDING = 256
SHARE = 0.1


def expect(frame, core):
    """Before anything is called: the head, where it is known from an earlier call."""
    frame.core = core
    model = _models.find(core)
    scores = model is not None and model.kind == "score"
    head = None if model is None or scores else model.head
    frame.heads = {} if head is None else {id(head): head}
    frame.tables = () if head is not None or scores else tuple(_models.embeddings(core))


def looked_up(frame, table, ids):
    """An embedding is looked up inside of the call."""
    tables = getattr(frame, "tables", ())
    if frame.heads or not any(table is each for each in tables):
        return
    found = looked_at(frame.ids, ids) if len(tables) > 1 else ids
    if found is None:
        return
    vocab, width = table.num_embeddings, table.embedding_dim
    heads = _models.heads(frame.core, vocab)
    if not heads:
        most = max(PADDING, int(SHARE * vocab))
        sizes = {getattr(part, "out_features", None) for part in frame.core.modules()} - {None, width}
        heads = [part for size in sizes if abs(size - vocab) <= most for part in _models.heads(frame.core, size)]
    frame.heads = {id(head): head for head in heads}


def looked_at(given, ids):
    """Those of the ids given that are looked up: all of them, or all but some at an end. None: it is something else."""
    if not isinstance(ids, torch.Tensor) or ids.is_floating_point() or ids.numel() == 0:
        return None
    if ids is given:
        return ids
    if ids.ndim == 1 and ids.numel() == given.numel():
        return given if bool((ids == given.reshape(-1)).all()) else None
    if ids.ndim != 2 or ids.shape[0] != given.shape[0] or ids.shape[1] > given.shape[1]:
        return None
    width = ids.shape[1]
    same = bool((ids == given[:, :width]).all()) or bool((ids == given[:, -width:]).all())
    return ids if same else None


def called(frame, head, x, out):
    """One of several that may be the head. Its outputs are kept to the end of the call, and no longer."""
    if x is None or out is None or not out.is_floating_point() or out.ndim < 2:
        return
    if not frame.latest or frame.latest[-1][0] is not head:
        frame.latest.append((head, frame.hidden, []))
    frame.latest[-1][2].append((x, out))


def went_on(frame, hidden):
    """Hidden states came behind what may have been the head."""
    if frame.latest and hidden.shape[-1] != frame.latest[-1][2][-1][1].shape[-1]:
        frame.latest.clear()


def settle(watcher, frame, result):
    """At the end of the call: the one whose logits are returned first was it (others predict further tokens), else the last one."""
    latest, frame.latest = frame.latest, []
    if not latest or frame.forward is not None:
        return
    returned = first_tensor(result)
    ours = [each for each in latest if any(out is returned for _, out in each[2])]
    head, hidden, calls = (ours or latest)[-1]
    frame.forward = watcher.make(watcher.session, frame, head=head)
    if frame.forward is not None:
        frame.forward.saw_hidden(hidden)
        for x, out in calls:
            frame.forward.saw_head(x, out)


def first_tensor(result):
    """Also of a dict and of an output of transformers."""
    if isinstance(result, torch.Tensor):
        return result
    values = result.values() if hasattr(result, "values") else result if isinstance(result, (tuple, list)) else ()
    return next((value for value in values if isinstance(value, torch.Tensor) and value.ndim >= 2), None)
