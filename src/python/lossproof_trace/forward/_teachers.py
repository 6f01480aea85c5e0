"""What models said of rows without being trained on them: a few of their logits, in case that the loss of a model that is
trained on the same rows has them in it. Forgotten at each optimiser step."""

import torch

from ..gradient._logits import FEW_ENTRIES, entries_of
from ..gradient._several import Teacher
from ._values import lse_of, without_next

# Calls that are remembered.
MOST = 8

# Logits that are kept of one call, if that is all of them.
MOST_LOGITS = 2**22


class Spoken:
    """One call: `ids` (B, T), the columns that the logits are of, and the Teacher of these positions."""

    def __init__(self, ids, place, step, vocab, teacher):
        self.ids, self.place, self.step, self.vocab, self.teacher = ids, place, step, vocab, teacher


def remember(forward, logits, place, candidates):
    session = forward.session
    start, width = place
    rows, columns = forward.ids.shape
    z = logits.detach().reshape(-1, forward.vocab)
    ids = candidates.reshape(rows, columns, -1)[:, start : start + width].reshape(rows * width, -1)
    # The first three are the same whatever labels a call was given.
    ids = torch.where(ids < forward.vocab, ids, -1)[:, :3]
    entries = entries_of(forward.vocab, forward.vocab if z.numel() <= MOST_LOGITS else FEW_ENTRIES).to(z.device)
    whole = without_next(z, ids)
    z_ids = z.gather(1, ids.clamp(min=0))
    lse = lse_of(forward, place, z_ids[:, 0])
    teacher = Teacher(forward.model.index, entries, z.index_select(1, entries), ids, z_ids, whole, lse, width)
    spoken = [each for each in session.spoken if each.step == session.step][-MOST + 1 :]
    session.spoken = [*spoken, Spoken(forward.ids, place, session.step, forward.vocab, teacher)]


def teachers_of(forward, piece):
    """Of the same ids and columns, in this step; the latest first."""
    return [
        columns_of(each, piece)
        for each in reversed(forward.session.spoken)
        if each.step == forward.session.step
        and each.place[0] <= piece.start
        and piece.start + piece.width <= sum(each.place)
        and each.ids.shape == forward.ids.shape
        and each.ids.device == forward.ids.device
        and bool((each.ids == forward.ids).all())
        and each.vocab == forward.vocab
    ]


def columns_of(spoken, piece):
    """The Teacher of a piece's columns: of one chunk of the row, where the head is called for each."""
    teacher, (start, width) = spoken.teacher, spoken.place
    if (start, width) == (piece.start, piece.width):
        return teacher
    at = torch.arange(spoken.ids.shape[0] * width, device=teacher.z.device).reshape(-1, width)
    at = at[:, piece.start - start : piece.start - start + piece.width].flatten()
    lse = None if teacher.lse is None else teacher.lse[at]
    kept = (teacher.z[at], teacher.candidates[at], teacher.z_candidates[at])
    return Teacher(teacher.model, teacher.entries, *kept, teacher.whole.some(at), lse, piece.width)
