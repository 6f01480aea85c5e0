"""Packed rows taken apart: a row for each example, padded on the right, with an attention mask.

Where an example begins: positions that do not go on by one, numbers of examples, or lengths, alone or added up. What says that
of a packed row is left out of the batch, and positions begin anew.
"""

import collections.abc
import copy

IDS = ("input_ids", "tokens")
IGNORED = -100
# Of the shape of the ids, the number of the example that a token is of.
NUMBERS = ("seq_idx", "segment", "sequence_id", "document", "doc_id", "example_id")
# Of flash attention: the longest example.
LONGEST = ("max_length", "max_seqlen", "max_seq_len")


def is_packed(torch, batch):
    """Its rows hold several examples each, and it can be taken apart."""
    return _apart(torch, batch) is not None


def unpacked(torch, told, batch):
    found = _apart(torch, batch)
    if found is None:
        return batch
    ids, examples, dropped = found
    width = max(len(columns) for _, columns in examples)
    out = copy.copy(batch)
    for name in list(batch.keys()):
        value = batch[name]
        if name in dropped:
            del out[name]
        elif not isinstance(value, torch.Tensor) or value.shape != ids.shape:
            continue
        elif "pos" in str(name) and _whole(torch, value):
            # As the first row has them: some begin with another number than 0.
            row, columns = examples[0]
            places = torch.arange(width, device=value.device, dtype=value.dtype) + value[row, columns[0]]
            out[name] = places.repeat(len(examples), 1)
        else:
            out[name] = _rows(value, examples, width, IGNORED if "label" in str(name) else 0)
    out["attention_mask"] = _rows(torch.ones_like(ids), examples, width, 0)
    told.applied(rows=[ids.shape[0], len(examples)], columns=[ids.shape[1], width])
    return out


# --- helpers ---


def _apart(torch, batch):
    """(ids (B, T), [(row, columns of an example)], names that say nothing of rows of one example each), or None."""
    if not isinstance(batch, collections.abc.Mapping):
        return None
    ids = next((batch[name] for name in IDS if _whole(torch, batch.get(name)) and batch[name].ndim == 2), None)
    if ids is None:
        return None
    begins, real, dropped = _seams(torch, batch, ids)
    if not bool(begins[:, 1:].any()):
        return None
    for name in batch.keys():
        value = batch[name]
        # Of a row, or of anything else: nobody knows what it is of an example.
        if isinstance(value, torch.Tensor) and value.ndim > 0 and value.shape != ids.shape and name not in dropped:
            return None
    examples = _examples(torch, batch, ids, begins, real)
    return None if len(examples) == len({row for row, _ in examples}) else (ids, examples, dropped)


def _whole(torch, value):
    return isinstance(value, torch.Tensor) and not value.is_floating_point() and value.dtype != torch.bool


def _seams(torch, batch, ids):
    """(begins (B, T), real (B, T), names as above)."""
    rows, columns = ids.shape
    real = torch.ones(ids.shape, dtype=torch.bool)
    begins = torch.zeros(ids.shape, dtype=torch.bool)
    dropped = set()
    for name in batch.keys():
        value, word = batch[name], str(name).lower()
        if word.startswith(LONGEST):
            dropped.add(name)
        elif isinstance(value, torch.Tensor) and value.shape == ids.shape:
            value = value.detach().cpu()
            if "pos" in word and _whole(torch, value):
                begins[:, 1:] |= value[:, 1:] != value[:, :-1] + 1
            elif word == "attention_mask":
                # Some collators number the examples of a row in it.
                real &= value != 0
                begins[:, 1:] |= (value[:, 1:] != value[:, :-1]) & (value[:, 1:] != 0) & (value[:, :-1] != 0)
            elif any(each in word for each in NUMBERS):
                begins[:, 1:] |= value[:, 1:] != value[:, :-1]
                dropped.add(name)
        elif "mask" in word and isinstance(value, torch.Tensor) and value.ndim > 2:
            # Of all pairs of positions.
            dropped.add(name)
        else:
            ends = _ends(torch, value, rows, columns)
            if ends is not None:
                begins.view(-1)[ends] = True
                dropped.add(name)
    begins[:, 0] = True
    return begins, real, dropped


def _ends(torch, value, rows, columns):
    """Where examples end in all rows one after the other, but for the last one; None: it says nothing of that."""
    if isinstance(value, (list, tuple)):
        flat = [each for row in value for each in (row if isinstance(row, (list, tuple)) else [row])]
        if not flat or not all(isinstance(each, int) for each in flat):
            return None
        value = torch.tensor(flat)
    if not _whole(torch, value) or value.ndim not in (1, 2) or value.numel() < 2:
        return None
    value = value.detach().cpu().reshape(-1).long()
    total = rows * columns
    added = value if int(value[0]) == 0 else value.cumsum(0)
    if int(added[-1]) != total or bool((added[1:] < added[:-1]).any()):
        return None
    inside = (added > 0) & (added < total)
    return added[inside]


def _examples(torch, batch, ids, begins, real):
    """[(row, columns)]: without padding, whether a mask tells it or single tokens at either end that nobody trains."""
    labels = next((batch[name] for name in batch.keys() if "label" in str(name)), None)
    known = isinstance(labels, torch.Tensor) and labels.shape == ids.shape
    trained = labels.detach().cpu() != IGNORED if known else torch.ones(ids.shape, dtype=torch.bool)
    out = []
    for row in range(ids.shape[0]):
        edges = [*begins[row].nonzero().view(-1).tolist(), ids.shape[1]]
        parts = [
            [column for column in range(edges[at], edges[at + 1]) if bool(real[row, column])]
            for at in range(len(edges) - 1)
        ]
        parts = [part for part in parts if part]
        for end in (0, -1):
            while len(parts) > 1 and len(parts[end]) == 1 and not bool(trained[row, parts[end][0]]):
                parts.pop(end)
        out += [(row, torch.tensor(part, device=ids.device)) for part in parts]
    return out


def _rows(value, examples, width, fill):
    out = value.new_full((len(examples), width), fill)
    for at, (row, columns) in enumerate(examples):
        out[at, : len(columns)] = value[row, columns]
    return out
