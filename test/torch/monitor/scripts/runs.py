"""Trains as a file of JSON lines says, one run a line, each into a folder of its own: `{"script": "rl", "out": ..., "seed": 3}`
and what its `run` takes. One process for many: the imports take longer than a run."""

import contextlib
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "trace" / "scripts"))
os.environ["CUDA_VISIBLE_DEVICES"] = ""

import tiny  # noqa: F401 (before transformers: it works offline then)
import torch
import transformers

torch.set_num_threads(1)
transformers.logging.set_verbosity_error()
failed = 0
for line in sys.stdin:
    asked = json.loads(line)
    script = __import__(asked.pop("script"))
    Path(asked["out"]).mkdir(parents=True, exist_ok=True)
    transformers.set_seed(asked["seed"])
    try:
        with contextlib.redirect_stdout(sys.stderr):
            script.run(**asked)
        print(asked["out"], flush=True)
    except Exception as error:  # what a real run would end with; its log is read all the same
        failed += 1
        print("%s: %s: %s" % (asked["out"], type(error).__name__, error), flush=True)
sys.exit(1 if failed else 0)
