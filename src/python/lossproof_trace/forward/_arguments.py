"""What a language model was called with, however it was passed: by place, by name, or in a dict."""

import inspect

import torch

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.uint8)

# Whole-number arguments of the shape of ids that are not ids.
NOT_IDS = ("mask", "label", "target", "position", "pos_", "segment", "type_ids", "cache", "length", "seq_id")
IDS = ("input_ids", "ids", "idx", "tokens", "token_ids", "inputs", "input", "x")

_signatures = {}


def bound(forward, args, kwargs):
    """Arguments by the name that the method gives them; those of a dict that was passed whole beside them."""
    named = dict(kwargs)
    names = _names(forward)
    for place, value in enumerate(args):
        named[names[place] if place < len(names) else "argument %d" % place] = value
    for value in list(named.values()):
        if isinstance(value, dict) or (hasattr(value, "keys") and hasattr(value, "__getitem__")):
            for name in list(value.keys()):
                if isinstance(name, str):
                    named.setdefault(name, value[name])
    return named


def _names(forward):
    code = getattr(forward, "__func__", forward)
    key = id(code)
    known = _signatures.get(key)
    if known is not None and known[0] is code:
        return known[1]
    names = []
    try:
        for name, parameter in inspect.signature(forward).parameters.items():
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                names.append(name)
    except (TypeError, ValueError):
        pass
    _signatures[key] = (code, names)
    return names


def has_ids(args, kwargs):
    """Quickly: a 2-D tensor of whole numbers is among the arguments, or embeddings that were made of one."""
    for value in args:
        if _ids_like(value) or (isinstance(value, dict) and any(_ids_like(item) for item in value.values())):
            return True
    for value in kwargs.values():
        if _ids_like(value):
            return True
    return kwargs.get("inputs_embeds") is not None


def _ids_like(value):
    return isinstance(value, torch.Tensor) and value.ndim == 2 and value.dtype in INTEGERS


def ids_of(named, wanted=None):
    """(B, T), or None."""
    if wanted is not None:
        if isinstance(wanted, int):
            wanted = list(named)[wanted] if wanted < len(named) else None
        value = named.get(wanted)
        return value if _ids_like(value) else None
    for name in IDS:
        if _ids_like(named.get(name)):
            return named[name]
    for name, value in named.items():
        if _ids_like(value) and not any(word in name.lower() for word in NOT_IDS):
            return value
    return None


def mask_of(named, shape):
    """(mask of 0 and 1 or None, 'mask' | 'none' | 'other')."""
    given = [
        (name, value)
        for name, value in named.items()
        if value is not None and "mask" in name.lower() and not any(word in name.lower() for word in ("loss", "label", "completion"))
    ]
    if not given:
        return None, "none"
    given.sort(key=lambda pair: pair[0] != "attention_mask")
    value = given[0][1]
    if isinstance(value, torch.Tensor) and tuple(value.shape) == tuple(shape):
        if not value.is_floating_point():
            return (value != 0).to(torch.int64), "mask"
        # Of floats, 1 and 0 are kept and masked; additive masks are another form.
        if bool(((value == 0) | (value == 1)).all()):
            return value.to(torch.int64), "mask"
    return None, "other"


def same_shape(named, name, shape):
    """(B, T) of whole numbers by this name; one row stands for all."""
    value = named.get(name)
    if not isinstance(value, torch.Tensor) or value.is_floating_point():
        return None
    if value.ndim == 1 and value.shape[0] == shape[1]:
        value = value[None]
    if value.ndim == 2 and value.shape[0] == 1 and value.shape[1] == shape[1]:
        value = value.expand(shape[0], -1)
    return value if tuple(value.shape) == tuple(shape) else None


def candidates_of(ids, named):
    """(B * T, C) ids that a position may be trained toward, -1 for none: next, same, next but one, and labels given."""
    columns = [shifted(ids, 1), ids, shifted(ids, 2)]
    for name in ("labels", "shift_labels", "targets", "target"):
        labels = same_shape(named, name, ids.shape)
        if labels is not None:
            columns += [shifted(labels, 1), labels]
    stacked = torch.stack([column.to(torch.int64) for column in columns], dim=-1)
    return stacked.clamp(min=-1).reshape(-1, stacked.shape[-1])


def shifted(ids, by):
    out = torch.full_like(ids, -1)
    if ids.shape[1] > by:
        out[:, :-by] = ids[:, by:]
    return out
