"""Runs a script as if torch had been told to make its tensors on a GPU: those of the script lie where they did, and what the tracer
makes without saying where lies on the device `meta`, which is as far from them as a GPU is."""

import os
import runpy
import sys

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

MAKERS = _device_constructors()
TORCH = os.path.dirname(torch.__file__)


class Elsewhere(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in MAKERS and kwargs.get("device") is None:
            kwargs["device"] = "meta" if "lossproof_trace" in caller() else "cpu"
        return func(*args, **kwargs)


def caller():
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(TORCH):
        frame = frame.f_back
    return "" if frame is None else frame.f_code.co_filename


sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
with Elsewhere():
    runpy.run_path(sys.argv[0], run_name="__main__")
