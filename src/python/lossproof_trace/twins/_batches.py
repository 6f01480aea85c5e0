"""Changes of a batch between the data loader and the script: the order of its rows, and the width of its padding."""

import collections.abc
import copy

# Columns of padding that are added: more than one, and no width that a kernel likes best.
WIDER = 3
IGNORED = -100


def reversed_rows(torch, told, batch):
    """The same rows, the last one first."""
    rows = rows_of(torch, batch)
    if rows is None or rows < 2:
        return batch
    order = list(range(rows - 1, -1, -1))

    def turned(value):
        if isinstance(value, torch.Tensor) and value.ndim > 0 and value.shape[0] == rows:
            return value.index_select(0, torch.tensor(order, device=value.device))
        if isinstance(value, list) and len(value) == rows:
            return [value[at] for at in order]
        return value

    told.applied(rows=rows)
    # A list of examples is turned as a whole: its entries are rows, and no fields.
    return turned(batch) if isinstance(batch, list) and not any(isinstance(each, torch.Tensor) for each in batch) else mapped(batch, turned)


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
    return mapped(batch, widened, named=True)


def rows_of(torch, batch):
    """B, where it can be told: of the first tensor, or of a list of examples."""
    if isinstance(batch, torch.Tensor):
        return batch.shape[0] if batch.ndim > 0 else None
    if isinstance(batch, collections.abc.Mapping):
        values = list(batch.values())
    elif isinstance(batch, (list, tuple)):
        values = list(batch)
        if values and not any(isinstance(value, torch.Tensor) for value in values):
            return len(values)
    else:
        return None
    return next((value.shape[0] for value in values if isinstance(value, torch.Tensor) and value.ndim > 0), None)


def mapped(batch, change, named=False):
    if isinstance(batch, collections.abc.Mapping):
        out = copy.copy(batch)
        for name in list(batch.keys()):
            out[name] = change(batch[name], str(name)) if named else change(batch[name])
        return out
    if isinstance(batch, tuple):
        values = [change(value) for value in batch]
        return type(batch)(*values) if hasattr(batch, "_fields") else type(batch)(values)
    if isinstance(batch, list):
        return [change(value) for value in batch]
    return change(batch)


CHANGES = {"batch-order": reversed_rows, "padding": wider}
