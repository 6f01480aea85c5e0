"""The rows that OpenRLHF itself makes of launch scripts, as JSON: python openrlhf_rows.py FILE..., in the folder of the run."""

import ast
import shlex
import sys
from types import SimpleNamespace

from _told import tell
from lossproof.adapters.common._library import quietly
from lossproof.testing import stub

STUBS = ["ray", "deepspeed", "peft", "flash_attn", "vllm", "wandb", "bitsandbytes", "torchmetrics", "optree", "ring_flash_attn", "liger_kernel", "pylatexenc", "tensordict", "einops", "aiohttp", "fastapi", "uvicorn", "httpx"]

with stub(STUBS), quietly():
    import datasets
    import openrlhf.cli.train_sft as sft
    import openrlhf.cli.train_ppo_ray as ppo
    from openrlhf.datasets import PromptDataset, SFTDataset
    from openrlhf.datasets.utils import blending_datasets
    from transformers import AutoTokenizer


def arguments(module, words):
    """What the command makes of its options: its main block without the training."""
    with open(module.__file__) as opened:
        tree = ast.parse(opened.read())
    main = next(node for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.dump(node.test))
    names = dict(vars(module))
    sys.argv = ["train", *words]
    exec(compile(ast.Module(main.body[:-1], []), module.__file__, "exec"), names)
    return names["args"]


def rows(file):
    with open(file) as opened:
        words = shlex.split(opened.read().replace("\\\n", " "), comments=True)
    at = next(at for at, word in enumerate(words) if word.startswith("openrlhf.cli."))
    supervised = words[at].endswith("train_sft")
    args = arguments(sft if supervised else ppo, words[at + 1 :])
    strategy = SimpleNamespace(args=args, print=lambda *_: None, is_rank_0=lambda: False)
    if not supervised:
        tokenizer = AutoTokenizer.from_pretrained(args.actor.model_name_or_path)
        data = blending_datasets(args.data.prompt_dataset, None, strategy, 42, max_count=args.data.max_samples, dataset_split=args.data.prompt_split)
        made = PromptDataset(data, tokenizer, strategy, input_template=args.data.input_template)
        # As openrlhf/utils/agent.py tokenises them.
        return [prompt(tokenizer(text=made[at][1], add_special_tokens=False)["input_ids"]) for at in range(len(made))]
    tokenizer = AutoTokenizer.from_pretrained(args.model.model_name_or_path)
    data = blending_datasets(args.data.dataset, args.data.dataset_probs, strategy, 42, max_count=args.data.max_samples, dataset_split=args.data.dataset_split)
    data = data.select(range(min(args.data.max_samples, len(data))))
    made = SFTDataset(data, tokenizer, args.data.max_len, strategy, pretrain_mode=args.model.pretrain_mode_enable, input_template=args.data.input_template, num_processors=1, multiturn=args.data.multiturn)
    return [trained(made[at]) for at in range(len(made))]


def trained(row):
    """The mask stands at the token that predicts: it is moved to the one that is predicted."""
    ids, mask = row[0][0].tolist(), row[2][0].tolist()
    return {"input_ids": ids, "labels": [-100] + [each if weight else -100 for each, weight in zip(ids[1:], mask, strict=False)]}


def prompt(ids):
    return {"input_ids": ids, "labels": [-100] * len(ids)}


with quietly():
    datasets.disable_progress_bars()
tell(rows)
