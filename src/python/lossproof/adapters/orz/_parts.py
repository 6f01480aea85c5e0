"""What of a clone is driven: its modules, imported with what is played in the place of the packages around them."""

import os
import sys

from lossproof.adapters.common._checkout import Checkout
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

sys.dont_write_bytecode = True  # nothing is written into the clone
os.environ.pop("DEBUG_MODE", None)  # which it reads for other settings
sys.path.insert(0, str(orz.root))
stub(STUBBED, always=True)
_outside.answer()
trainer = orz.module("orz.ppo.trainer")
utils = orz.module("orz.ppo.utils")
models = orz.module("orz.ppo.models")
actors = orz.module("orz.ppo.actors")
buffers = orz.module("orz.ppo.replay_buffer")
base = orz.module("orz.exps.examples.ppo.ppo_base_exp")
experiment = orz.module("playground.orz_7b_ppo")
