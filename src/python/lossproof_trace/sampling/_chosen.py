"""The probability that each token was drawn with by generate(), after temperature, top-p and all processors: what `lossproof gap` compares
the trainer with. Kept only where each column of the output is one draw of all rows; beams and speculation have none."""

import threading

_local = threading.local()
# Numbers of one call: 64 MiB of float32.
MOST = 2**24


def begin():
    """A call of generate() begins in this thread."""
    _local.columns, _local.count = [], 0


def drew(args, kwargs, result):
    """torch.multinomial, anywhere; outside of generate() nothing is kept."""
    columns = getattr(_local, "columns", None)
    if columns is None:
        return
    p = args[0] if args else kwargs.get("input")
    _local.count += result.numel()
    if p.ndim != 2 or tuple(result.shape) != (p.shape[0], 1) or _local.count > MOST:
        _local.columns = None
        return
    columns.append((p.gather(1, result) / p.sum(1, keepdim=True)).log().float()[:, 0])


def end():
    """(B, C) of the call, or None."""
    import torch

    columns, _local.columns = getattr(_local, "columns", None), None
    if not columns or any(each.shape != columns[0].shape for each in columns):
        return None
    return torch.stack(columns, 1)
