"""Changes of what a torch DataLoader gives: which examples of a batch come in which order, and how wide its padding is."""

import collections.abc
import copy
import functools

from . import _packed

# Columns of padding that are added: more than one, and no width that a kernel likes best.
WIDER = 3
IGNORED = -100


def reversed_rows(indices):
    """The same examples, the last one first."""
    return indices[::-1]


def other_mates(indices):
    """The first example, and itself in place of all others."""
    return [indices[0]] * len(indices)


def wider(torch, told, batch):
    """More padding on the side where the batch has it, right where it has none."""
    if not isinstance(batch, collections.abc.Mapping) or not isinstance(batch.get("input_ids"), torch.Tensor):
        return batch
    ids, mask = batch["input_ids"], batch.get("attention_mask")
    if ids.ndim != 2 or not isinstance(mask, torch.Tensor) or mask.shape != ids.shape or "labels" not in batch:
        return batch
    if any(isinstance(value, torch.Tensor) and value.ndim > 2 for value in batch.values()):
        return batch
    left = bool((mask[:, 0] == 0).any()) and not bool((mask[:, -1] == 0).any())
    padded = ids[mask == 0]
    pad = int(padded[0]) if padded.numel() else 0

    def fill(name):
        if name == "input_ids":
            return pad
        return IGNORED if "label" in name else 0

    def widened(value, name):
        if not isinstance(value, torch.Tensor) or value.shape != ids.shape:
            return value
        return torch.nn.functional.pad(value, (WIDER, 0) if left else (0, WIDER), value=fill(name))

    told.applied(columns=WIDER, side="left" if left else "right")
    return mapped(batch, widened)


def mapped(batch, change):
    out = copy.copy(batch)
    for name in list(batch.keys()):
        out[name] = change(batch[name], str(name))
    return out


# Before examples are fetched and put together: a collator may make several rows of one, or one of several.
OF_INDICES = {"batch-order": reversed_rows, "mates": other_mates}
OF_BATCHES = {"padding": wider, "packing": _packed.unpacked}


def install(told, module):
    """torch.utils.data.dataloader is imported."""
    change = OF_INDICES.get(told.name)
    if change is None:
        return
    owner = module._BaseDataLoaderIter
    original = owner._next_index

    @functools.wraps(original)
    def next_index(self):
        indices = original(self)
        # A stream has no indices.
        if not isinstance(indices, (list, tuple)) or len(indices) < 2 or any(index is None for index in indices):
            return indices
        told.applied(rows=len(indices))
        return list(change(list(indices)))

    owner._next_index = next_index
