"""Arguments in: base64 tensors to nested lists, and lists to numpy arrays or torch tensors where asked for."""

import array
import base64
import importlib
import sys

from ._ops import ARRAY_KINDS

# Names on the wire to codes of the array module; all little-endian.
_CODES = {"float64": "d", "float32": "f", "int64": "q", "int32": "i"}


def converter(arrays, dtype):
    """convert(kind, value) for bind(), of lists or base64 tensors, or None where lists stay lists.

    arrays: None, "numpy" or "torch". Integers become int64; floats become float64 where the trainer computes in
    float64, else float32 (half precision is the model's business, not the harness's)."""
    if arrays is None:
        return None
    if arrays not in ("numpy", "torch"):
        raise ValueError('arrays=%r: "numpy" or "torch", or leave it out for lists' % (arrays,))
    library = importlib.import_module(arrays)
    make = library.tensor if arrays == "torch" else library.array
    integer = library.int64
    real = library.float64 if dtype == "float64" else library.float32

    def convert(kind, value):
        packed = _packed(value)
        if kind not in ARRAY_KINDS:
            return _lists(value) if packed else value
        wanted = integer if ARRAY_KINDS[kind] else real
        if not packed:
            return make(value, dtype=wanted)
        # By way of lists it would take ten times as long.
        flat = _flat(value)
        if arrays == "torch" and flat:
            tensor = library.frombuffer(flat, dtype=getattr(library, value["dtype"])).to(wanted)
        else:
            tensor = make(flat, dtype=wanted)
        return tensor.reshape(value["shape"])

    return convert


def unpack(args):
    """args with every {"dtype","shape","data"} replaced by nested lists."""
    return {name: _lists(value) if _packed(value) else value for name, value in args.items()}


def _packed(value):
    return isinstance(value, dict) and value.keys() == {"dtype", "shape", "data"}


def _lists(value):
    return _shaped(_flat(value).tolist(), value["shape"])


def _flat(value):
    if value["dtype"] not in _CODES:
        raise ValueError("dtype %r is not one of %s" % (value["dtype"], ", ".join(_CODES)))
    flat = array.array(_CODES[value["dtype"]])
    flat.frombytes(base64.b64decode(value["data"]))
    if sys.byteorder == "big":
        flat.byteswap()
    return flat


def _shaped(flat, shape):
    if len(shape) == 1:
        return flat
    size = 1
    for extent in shape[1:]:
        size *= extent
    return [_shaped(flat[i * size : (i + 1) * size], shape[1:]) for i in range(shape[0])]
