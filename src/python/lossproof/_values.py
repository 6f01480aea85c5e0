"""Answers out: whatever the user's function returned becomes JSON in Python's dialect (NaN, Infinity, -0.0).

torch and numpy are looked up in sys.modules and never imported: who returns a tensor has imported torch."""

import base64
import dataclasses
import json
import sys

from ._errors import WrongAnswer

WIRE_DTYPES = ("float32", "float64", "int64", "int32")


def encoder(use_base64=False):
    """One function from a value to JSON text. Booleans become 0 and 1: no answer field is a flag, masks are."""

    def default(value):
        return _plain(value, use_base64)

    # ASCII only: a lone surrogate half in some text must not break the pipe.
    encode = json.JSONEncoder(default=default, separators=(",", ":")).encode

    def to_json(value):
        text = encode(value)
        # The words are in the text rarely, so the walk is paid rarely; inside a string they do no harm.
        if "true" in text or "false" in text:
            text = encode(_no_booleans(value))
        return text

    return to_json


def record(name, value):
    """The answer as a dict of fields; WrongAnswer with the next step for anything else."""
    if isinstance(value, dict):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise WrongAnswer("op %r returned %s; return a dict of the answer's fields" % (name, type(value).__name__))


def _plain(value, use_base64):
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _tensor(torch, value, use_base64)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, (numpy.ndarray, numpy.generic)):
        return _array(numpy, value, use_base64)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError("a %s cannot be sent; use lists, numbers, numpy arrays or tensors" % type(value).__name__)


def _tensor(torch, value, use_base64):
    value = value.detach().cpu()
    if value.dtype is torch.bool:
        value = value.to(torch.int64)
    elif value.dtype in (torch.bfloat16, torch.float16):
        value = value.float()  # exact
    if use_base64 and value.dim() and "numpy" in sys.modules:
        return _array(sys.modules["numpy"], value.contiguous().numpy(), True)
    return value.tolist()


def _array(numpy, value, use_base64):
    if value.dtype.kind == "b":
        value = value.astype(numpy.int64)
    elif value.dtype == numpy.float16:
        value = value.astype(numpy.float32)
    if not use_base64 or value.ndim == 0:
        return value.tolist()
    if value.dtype.name not in WIRE_DTYPES:
        value = value.astype(numpy.int64 if value.dtype.kind in "iu" else numpy.float64)
    data = numpy.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
    return {
        "dtype": value.dtype.name,
        "shape": list(value.shape),
        "data": base64.b64encode(data.tobytes()).decode("ascii"),
    }


def _no_booleans(value):
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, dict):
        return {key: _no_booleans(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_no_booleans(item) for item in value]
    return value
