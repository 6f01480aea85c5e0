"""Rows as Open-Reasoner-Zero lays them out: packed one behind the other in a row of the batch, or padded on both sides."""

from types import SimpleNamespace

from lossproof import Reject
from lossproof.adapters.orz._model import codec, trainer_of
from lossproof.adapters.orz._settings import PACKED

import torch

trainer = trainer_of(codec)


def texts(rows):
    return [codec.decode(ids) for ids in rows]


def laid(prompt_ids, completion_ids):
    """Packed rows of these, a batch each: .ids (1, T), .mask, which counts the rows in it, .actions and .lengths of those."""
    answered(prompt_ids, completion_ids)
    return packs(texts(prompt_ids), texts(completion_ids), trainer.cfg.packing_max_len)


def answered(prompt_ids, completion_ids):
    if not all(prompt_ids):
        raise Reject("Open-Reasoner-Zero writes a prompt in front of every answer")
    if not all(completion_ids):
        raise Reject("Open-Reasoner-Zero drops empty responses")


def packs(prompts, outputs, width):
    return batches_of(trainer._convert_prompts_outputs_to_batch_tensors_packing(prompts, outputs, None, width))


def batches_of(found):
    """What that function returns, a batch a packed row."""
    return [SimpleNamespace(**dict(zip(["ids", "mask", "actions", "lengths"], fields))) for fields in zip(*found[:4])]


class Trained:
    """Per-token tracks (B, T) of a request, and the tokens of them that are trained: each row's own, without a gap. A row without any
    is left out, as the trainer drops empty responses. rows: those that are there."""

    def __init__(self, completion_mask, prompt_width):
        self.mask = torch.tensor(completion_mask).bool()
        self.width = prompt_width
        self.rows = [at for at, row in enumerate(self.mask) if row.any()]
        if not self.rows:
            raise Reject("Open-Reasoner-Zero drops empty responses, and has no batch of none")
        self.counts = {at: int(self.mask[at].sum()) for at in self.rows}
        self.ends = {at: int(self.mask[at].nonzero()[-1]) + 1 for at in self.rows}
        starts = [int(self.mask[at].nonzero()[0]) for at in self.rows]
        gaps = any(self.ends[at] - start > self.counts[at] for at, start in zip(self.rows, starts))
        # Packed, what is not trained before a response is prompt; padded, all prompts end in one column.
        if gaps or (not PACKED and any(start > prompt_width for start in starts)):
            raise Reject("a response of Open-Reasoner-Zero is trained as a whole, and has no gaps")
        if 0 in starts:
            raise Reject("Open-Reasoner-Zero writes a prompt in front of every answer")

    @property
    def actions(self):
        return list(self.counts.values())

    def given(self, track):
        """As the trainer holds it: (1, N), one response behind the other, or (B, A)."""
        track = torch.as_tensor(track)
        return track[self.mask][None] if PACKED else track[self.rows, self.width :]

    def back(self, values):
        """(B, T) of that, 0 elsewhere."""
        track = torch.zeros(self.mask.shape)
        if PACKED:
            track[self.mask] = values[0].float()
        else:
            track[self.rows, self.width :] = values
        return track

    @property
    def action_mask(self):
        return None if PACKED else self.mask[self.rows, self.width :]
