"""Runs a script with its tensors on the device that LOSSPROOF_DEVICE names, else on the processor: those of a script by hand by
torch's default device; a trainer of transformers or TRL puts them there by itself."""

import os
import runpy
import sys

import torch

sys.argv = sys.argv[1:]
script = os.path.abspath(sys.argv[0])
sys.path.insert(0, os.path.dirname(script))
with open(script, encoding="utf-8") as file:
    text = file.read()
if "tiny.ON_CPU" not in text and "tiny.PLAIN" not in text:
    torch.set_default_device(os.environ.get("LOSSPROOF_DEVICE", "cpu"))
runpy.run_path(sys.argv[0], run_name="__main__")
