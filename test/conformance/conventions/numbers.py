"""Number formats without a library: rounding to float32 and bfloat16, and tensors as base64."""

import array
import base64
import math
import struct


def float32(value):
    """The nearest float32; infinite beyond its range."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def bfloat16(value):
    """The upper half of a float32, rounded to even."""
    single = float32(value)
    if not math.isfinite(single):
        return single
    bits = struct.unpack("<I", struct.pack("<f", single))[0]
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def float64(value):
    return value


# What the model computes in, and what is made of its numbers: nobody averages a loss in half precision.
MODEL = {"float64": float64, "float32": float32, "bfloat16": bfloat16}
LOSSES = {"float64": float64, "float32": float32, "bfloat16": float32}


def total(values, rounded):
    """A sum whose every step is rounded."""
    result = 0.0
    for value in values:
        result = rounded(result + value)
    return result


def tensor(rows):
    """A (B, T) matrix of floats as the protocol's tensor."""
    flat = array.array("d", (value for row in rows for value in row))
    return {
        "dtype": "float64",
        "shape": [len(rows), len(rows[0]) if rows else 0],
        "data": base64.b64encode(flat.tobytes()).decode("ascii"),
    }
