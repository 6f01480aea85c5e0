"""Checkpoints as Hugging Face has them: config.json and *.safetensors, read and written by the standard library.

A file is eight bytes of header length, a JSON header of name to dtype, shape and byte range, and the values."""

import json
import struct
import sys
from array import array
from pathlib import Path


def read(folder):
    """(config, {name: (shape, flat list of floats)}) of a checkpoint in float32."""
    folder = Path(folder)
    tensors = {}
    for path in sorted(folder.glob("*.safetensors")):
        data = path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])
        for name, entry in json.loads(data[8 : 8 + length]).items():
            if name == "__metadata__":
                continue
            if entry["dtype"] != "F32":
                raise ValueError("%s is %s, this reads F32" % (name, entry["dtype"]))
            start, end = entry["data_offsets"]
            values = array("f", data[8 + length + start : 8 + length + end])
            if sys.byteorder == "big":
                values.byteswap()
            tensors[name] = (entry["shape"], list(values))
    return json.loads((folder / "config.json").read_text()), tensors


def write(folder, tensors):
    """model.safetensors in a folder that is made."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    header, blobs, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, (shape, flat) in tensors.items():
        values = array("f", flat)
        if sys.byteorder == "big":
            values.byteswap()
        blobs.append(values.tobytes())
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + len(blobs[-1])]}
        at += len(blobs[-1])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))
