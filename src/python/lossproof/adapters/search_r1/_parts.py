"""What of a clone is driven: its modules, imported with what is played in the place of the packages around them."""

import importlib.util
import sys

from lossproof.adapters.common._checkout import Checkout
from lossproof.adapters.common._library import quietly
from lossproof.testing import stub

FILE = "search_r1/llm_agent/generation.py"
PROMPTS = "scripts/data_process/nq_search.py"
RELEASED = "verl/trainer/config/ppo_trainer.yaml"

# Played, also where they are installed: what Search-R1 was written for is older than what there is. Its workers are started by Ray.
STUBBED = ["ray", "vllm", "flash_attn", "megatron", "hydra", "omegaconf", "codetiming", "wandb", "verl.single_controller"]

search = Checkout(
    "Search-R1",
    "https://github.com/PeterGriffinJin/Search-R1",
    known=("a14dc3a",),
    file=FILE,
)


def prompt_of(ops):
    """make_prefix of the script that writes the data set; None, and what is said of these ops, where this commit has it not."""
    path = search.file(PROMPTS, ops)
    if path is None:
        return None
    spec = importlib.util.spec_from_file_location("search_r1_prompts", path)
    module = importlib.util.module_from_spec(spec)
    with quietly():
        spec.loader.exec_module(module)
    for op in ops if not hasattr(module, "make_prefix") else ():
        search.lacks.setdefault(op, "%s %s: %s has no make_prefix" % (search.title, search.version, PROMPTS))
    return getattr(module, "make_prefix", None)


sys.dont_write_bytecode = True  # nothing is written into the clone
sys.path.insert(0, str(search.root))
stub(STUBBED, always=True)
stub(["datasets", "requests"])
sys.modules["flash_attn.ops.triton.cross_entropy"] = None  # the kernel of a GPU, to be absent as before
protocol = search.module("verl.protocol")
core = search.module("verl.trainer.ppo.core_algos")
functional = search.module("verl.utils.torch_functional")
trainer = search.module("verl.trainer.ppo.ray_trainer")
actors = search.module("verl.workers.actor.dp_actor")
critics = search.module("verl.workers.critic.dp_critic")
data = search.module("verl.utils.dataset.rl_dataset")
tokenizers = search.module("verl.utils.tokenizer")
generation = search.module("search_r1.llm_agent.generation")
outcome = search.module("verl.trainer.main_ppo")
form = search.module("verl.trainer.main_ppo_format")
make_prefix = prompt_of(["reward", "format_score"])
DataProto = protocol.DataProto
