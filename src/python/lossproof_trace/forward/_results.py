"""Tensors in what a model returned, be it a tensor, a tuple, a dict or an object."""

import torch


def logits_in(result, shape, sizes):
    """A float tensor (B, T', V), (B * T, V) in what a model returned, V being a key of `sizes`; any V where it is None."""
    rows, columns = shape
    for value in tensors_in(result):
        if value.is_floating_point() and value.ndim in (2, 3) and (sizes is None or value.shape[-1] in sizes):
            if value.ndim == 3 and value.shape[0] == rows and 0 < value.shape[1] <= columns:
                return value
            if value.ndim == 2 and value.shape[0] == rows * columns:
                return value
    return None


def loss_in(result):
    return next((value for value in tensors_in(result) if value.numel() == 1 and value.ndim == 0 and value.requires_grad), None)


def tensors_in(result):
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, dict):
        values = list(result.values())
    elif isinstance(result, (tuple, list)):
        values = list(result)
    elif hasattr(result, "__dict__"):
        values = list(vars(result).values())
    else:
        values = []
    # `logits` first: hidden states of V dimensions are rare, but there are some.
    named = getattr(result, "logits", None) if not isinstance(result, dict) else result.get("logits")
    return [value for value in (named, *values) if isinstance(value, torch.Tensor)]
