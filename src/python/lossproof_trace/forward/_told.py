"""What a call of a language model was: its `forward` record, and the sentence where nothing of it can be watched."""

import time

import torch

from ..gradient._recovery import logprobs_of
from ..models import _dropout, _models, _traits
from . import _arguments


_counter = [0]


def next_index():
    """Of a `forward` record."""
    _counter[0] += 1
    return _counter[0] - 1


def forward_record(forward, logits, place):
    """The fields of the record, but its index. `logits`, or None: what the model returned, of columns `place`."""
    named, shape = forward.named, forward.ids.shape
    mask, attention = _arguments.mask_of(named, shape)
    positions = _arguments.same_shape(named, "position_ids", shape)
    if forward.grad and forward.session.packing is not None:
        forward.session.packing.trained(positions, mask)
    across = forward.frame.across
    through = forward.through
    adapters_off = _traits.adapters_off(_models.carried(through[-1])) if through else False
    # What a function drops counts whatever the mode. The dropout of adapters that are off does nothing, whatever its mode.
    dropout, idle = (0.0, 0.0) if adapters_off else _dropout.dropout_of(forward.model.root)
    dropout = max(dropout, forward.frame.dropped)
    return {
        "model": forward.model.index,
        "step": forward.session.step,
        # The record may wait, and steps of other processes do not.
        "time": time.time(),
        "grad": forward.grad,
        "training": forward.training,
        "input_ids": forward.ids,
        "attention_mask": mask,
        "attention": attention,
        "position_ids": positions,
        "labels": _arguments.same_shape(named, "labels", shape),
        "logprobs": None if logits is None else logprobs(forward, logits.detach(), place),
        "averaged_over": _traits.averaged_over(through),
        "batch": forward.session.batch,
        **({"dropout": dropout} if dropout > 0 else {}),
        **({"dropout_off": idle} if idle > 0 else {}),
        "adapters_off": adapters_off,
        **({} if across is None else {"across": across}),
    }


def logprobs(forward, logits, place):
    """(B, T) token-aligned."""
    rows, columns = forward.ids.shape
    start, wide = place
    out = torch.full((rows, columns), float("nan"), dtype=torch.float32)
    most = min(wide, columns - 1 - start)
    if most <= 0 or rows == 0:
        return out
    z = logits.reshape(rows, wide, forward.vocab)
    for row in range(rows):
        ids = forward.ids[row, start + 1 : start + 1 + most].to(torch.int64)
        fine = (ids >= 0) & (ids < forward.vocab)
        values = logprobs_of(z[row, :most], ids.clamp(0, forward.vocab - 1))
        out[row, start + 1 : start + 1 + most] = torch.where(fine, values, torch.nan).to("cpu", torch.float32)
    return out


def tell_blind(forward):
    if any(_models.virtual_tokens(module) for module in forward.through):
        # Told already, and why.
        return
    blind_of(forward.session, forward.model.root, forward.compiled)


def blind_of(session, module, compiled):
    """A loss came out of `module`, and nothing else."""
    name = type(module).__name__
    if compiled:
        session.blind(
            "compiled",
            "%s is compiled, and the loss is computed inside of it: neither its logits nor its hidden states can be "
            "watched. Run it uncompiled to trace it: without --keep-compiled, or without the compiler." % name,
        )
    else:
        session.blind(
            "no-logits", "%s returned a loss, but neither its logits nor its hidden states could be watched." % name
        )


def name_of(model):
    return type(model.root).__name__
