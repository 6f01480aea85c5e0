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
    """More padding on the side where the batch has it, right where it has none. Labels stand among the inputs, or beside them."""
    parts = list(batch) if isinstance(batch, (tuple, list)) else [batch]
    inputs = next((part for part in parts if _has_mask(torch, part)), None)
    if inputs is None:
        return batch
    ids, mask = inputs["input_ids"], inputs["attention_mask"]

    def is_labels(value):
        return isinstance(value, torch.Tensor) and value.shape == ids.shape and bool((value == IGNORED).any())

    if "labels" not in inputs and not any(map(is_labels, parts)):
        return batch
    if any(isinstance(value, torch.Tensor) and value.ndim > 2 for value in inputs.values()):
        return batch
    left = bool((mask[:, 0] == 0).any()) and not bool((mask[:, -1] == 0).any())
    padded = ids[mask == 0]
    pad = int(padded[0]) if padded.numel() else 0

    def widened(value, fill):
        if not isinstance(value, torch.Tensor) or value.shape != ids.shape:
            return value
        return torch.nn.functional.pad(value, (WIDER, 0) if left else (0, WIDER), value=fill)

    def part_of(part):
        if not isinstance(part, collections.abc.Mapping):
            return widened(part, IGNORED if is_labels(part) else 0)
        out = copy.copy(part)
        for name in list(part.keys()):
            out[name] = widened(part[name], pad if name == "input_ids" else IGNORED if "label" in str(name) else 0)
        return out

    told.applied(columns=WIDER, side="left" if left else "right")
    changed = [part_of(part) for part in parts]
    if not isinstance(batch, (tuple, list)):
        return changed[0]
    return type(batch)(*changed) if hasattr(batch, "_fields") else type(batch)(changed)


def _has_mask(torch, part):
    if not isinstance(part, collections.abc.Mapping) or not isinstance(part.get("input_ids"), torch.Tensor):
        return False
    ids, mask = part["input_ids"], part.get("attention_mask")
    return ids.ndim == 2 and isinstance(mask, torch.Tensor) and mask.shape == ids.shape


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
