"""What of a clone is driven, and which ops a commit without it lacks: files, since the packages around them need an environment, a
world model and a machine of their own."""

import importlib
import logging
import sys

from lossproof.adapters.common._checkout import Checkout
from lossproof.testing import replaced, stub

from lossproof.adapters.priorzero import _outside

FOLDER = "zoo/jericho/priorzero/"
POLICY = FOLDER + "priorzero_policy.py"
BUFFER = "lzero/mcts/buffer/game_buffer_priorzero.py"
PIPELINE = FOLDER + "priorzero_orz_complete.py"
LEARNT = ["contract", "mask", "tokenize", "unroll", "sft_loss", "train_step"]

# Everything that is not PriorZero's own is played by _outside, also where it is installed.
STUBBED = ["lzero", "ding", "peft", "ensure_local_lightzero", "tensorboardX", "loguru", "vllm", "orz", "ray", "omegaconf"]
STUBBED += ["priorzero_config", "priorzero_collector", "priorzero_evaluator"]

priorzero = Checkout(
    "PriorZero",
    "https://github.com/opendilab/LightZero, branch dev-multitask-balance-clean-rft",
    known=("53803a5", "9d54f08", "d22f88a", "0ad3fdf", "4ef57a5"),
    file=POLICY,
)


def loaded(file, ops):
    """A file of the clone, imported from its own folder; None where this commit has it not."""
    path = priorzero.file(file, ops)
    if path is None:
        return None
    with replaced(sys, path=[str(path.parent), *sys.path]):
        return importlib.import_module(path.stem)


sys.dont_write_bytecode = True  # nothing is written into the clone
logging.disable(logging.WARNING)  # each of its steps tells the shapes of a dozen tensors
stub(STUBBED, always=True)
_outside.answer()
policy = loaded(POLICY, LEARNT)
buffers = loaded(BUFFER, ["contract", "unroll"])
pipeline = loaded(PIPELINE, ["schedule"])
