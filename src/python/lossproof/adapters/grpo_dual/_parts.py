"""What of a clone is driven: one file, imported without the folders that it makes and without what it prints."""

import importlib
import sys
from pathlib import Path

from lossproof.adapters.common._checkout import Checkout
from lossproof.adapters.common._library import quietly
from lossproof.adapters.common._tiny import stop
from lossproof.testing import replaced, stub

FILE = "grpo-dual/src/grpo/trainer.py"
# Without these there is nothing to drive; and without the others there are ops that cannot be asked.
NEEDED = ["config", "load_model_and_tokenizer", "get_eos_token_ids"]
CALLED = {
    "generate_candidates_batch": ["render", "tokenize", "extract", "rollout"],
    "tokenize_sft_pair": ["render", "tokenize"],
    "build_safe_logits_processors": ["penalties"],
    "_tokenize_concat": ["mask", "rollout"],
    "grpo_train": ["rollout"],
    "compute_group_advantages": ["advantages"],
}

dual = Checkout(
    "grpo-dual",
    "https://github.com/BoBaCai/grpo-dual",
    known=("5323176", "be52b55", "6810389", "86a5902", "fc99b9f", "a07af9a", "96b4c1a"),
    file=FILE,
)


def silent(*_, **__):
    """In the place of print, and of making a folder."""


def loaded():
    """The module; its configuration makes folders of a machine of theirs in the middle of a class."""
    path = dual.root / FILE
    with quietly(), replaced(sys, path=[str(path.parent), *sys.path]), replaced(Path, mkdir=silent):
        module = importlib.import_module(path.stem)
    module.print = silent  # diagnoses of each step
    for name in NEEDED:
        if not hasattr(module, name):
            stop("%s of %s %s has no %s" % (FILE, dual.title, dual.version, name))
    for name, ops in CALLED.items():
        for op in ops if not hasattr(module, name) else ():
            dual.lacks.setdefault(op, "%s %s has no %s" % (dual.title, dual.version, name))
    return module


sys.dont_write_bytecode = True  # nothing is written into the clone
stub(["peft"])
trainer = loaded()
