"""What of a clone is driven: its modules, imported with what is played in the place of the packages around them."""

import importlib
import os
import sys

from lossproof.adapters.common._checkout import Checkout
from lossproof.adapters.common._library import quietly
from lossproof.adapters.common._tiny import stop
from lossproof.adapters.orz import _outside
from lossproof.testing import stub

FILE = "orz/ppo/trainer.py"

# Played, also where they are installed. What sends weights from process to process imports private names of one torch.
STUBBED = ["ray", "vllm", "deepspeed", "flash_attn", "peft", "loguru", "omegaconf", "torch.utils.tensorboard"]
STUBBED += ["math_verify", "hydra", "orz.exp_engine"]

orz = Checkout(
    "Open-Reasoner-Zero",
    "https://github.com/Open-Reasoner-Zero/Open-Reasoner-Zero",
    known=("f6d1ec7", "3fdd9a0"),
    file=FILE,
)


def loaded(name):
    """A module of the clone, whatever else is called so."""
    try:
        with quietly():
            module = importlib.import_module(name)
    except ImportError as absent:
        stop("%s of %s %s cannot be imported: %s" % (name, orz.title, orz.version, absent))
    if not str(getattr(module, "__file__", "")).startswith(str(orz.root)):
        stop("`import %s` finds %s, which is not in %s" % (name, getattr(module, "__file__", None), orz.root))
    return module


sys.dont_write_bytecode = True  # nothing is written into the clone
os.environ.pop("DEBUG_MODE", None)  # which it reads for other settings
sys.path.insert(0, str(orz.root))
stub(STUBBED, always=True)
_outside.answer()
trainer = loaded("orz.ppo.trainer")
utils = loaded("orz.ppo.utils")
models = loaded("orz.ppo.models")
actors = loaded("orz.ppo.actors")
buffers = loaded("orz.ppo.replay_buffer")
base = loaded("orz.exps.examples.ppo.ppo_base_exp")
experiment = loaded("playground.orz_7b_ppo")
