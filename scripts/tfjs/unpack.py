"""The libraries and headers out of the wheels of setup:tfjs, laid out as the binding of TensorFlow.js expects them.

    python scripts/tfjs/unpack.py WHEELS DEPS
DEPS/include and DEPS/lib are TensorFlow's. Its library looks for CUDA's in ../nvidia/NAME/lib, seen from where it lies itself.
"""

import pathlib
import sys
import zipfile

LIBRARIES = {
    "tensorflow/libtensorflow_cc.so.2": "libtensorflow.so",
    "tensorflow/libtensorflow_framework.so.2": "libtensorflow_framework.so",
}
HEADERS = "tensorflow/include/"


def place(name):
    """Where a file of a wheel goes, below DEPS; None: nowhere."""
    if name in LIBRARIES:
        return "lib/" + name.rpartition("/")[2]
    if name.startswith(HEADERS) and name.endswith((".h", ".inc")):
        return "include/" + name[len(HEADERS) :]
    if name.startswith("nvidia/") and "/lib/" in name and ".so" in name:
        return name
    return None


wheels, deps = map(pathlib.Path, sys.argv[1:])
for wheel in sorted(wheels.glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            where = place(info.filename)
            if where is not None:
                info.filename = where
                archive.extract(info, deps)
for name, linked in LIBRARIES.items():
    (deps / "lib" / linked).symlink_to(name.rpartition("/")[2])
