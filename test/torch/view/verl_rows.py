"""The rows that verl itself makes of configuration files, as JSON: python verl_rows.py FILE..., in the folder of the run.

A script's overrides and a file's settings go through hydra, as they do for verl; a row is what a sequence of the batch is
without padding. Rows for Parquet lie beside its name as JSON lines, since verl's SFT trainer reads nothing else."""

import glob
import shlex

from _told import tell
from lossproof.adapters.common._library import quietly
from lossproof.testing import stub

STUBS = ["ray", "peft", "codetiming", "hydra_colorlog", "wandb", "pylatexenc", "flash_attn", "vllm", "sglang"]

with stub(STUBS), quietly():
    import importlib.util
    import pathlib

    import datasets
    import pandas
    import yaml
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf
    from transformers import AutoTokenizer
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
    from verl.utils.dataset.rl_dataset import RLHFDataset
    from verl.utils.tokenizer import normalize_token_ids

FOLDER = pathlib.Path(importlib.util.find_spec("verl").submodule_search_locations[0]) / "trainer" / "config"


def configuration(file):
    name, given, overrides = "sft_trainer_engine", None, []
    if file.endswith(".sh"):
        words = shlex.split(open(file).read().replace("\\\n", " "), comments=True)
        module = next(at for at, word in enumerate(words) if word.startswith("verl.trainer."))
        name = "sft_trainer_engine" if "sft" in words[module] else "ppo_trainer"
        overrides = words[module + 1 :]
    else:
        given = yaml.safe_load(open(file))
        name = "ppo_trainer" if "actor_rollout_ref" in given else name
    with initialize_config_dir(str(FOLDER), version_base=None):
        made = compose(name, overrides=overrides)
    if given is not None:
        OmegaConf.set_struct(made, False)
        made = OmegaConf.merge(made, OmegaConf.create(given))
    return name, made


def tokenizer_of(model):
    tokenizer = AutoTokenizer.from_pretrained(model.tokenizer_path or model.path)
    if model.custom_chat_template is not None:
        tokenizer.chat_template = model.custom_chat_template
    return tokenizer


def rows(file):
    name, config = configuration(file)
    if name == "sft_trainer_engine":
        made = MultiTurnSFTDataset(config.data.train_files, tokenizer_of(config.model), config.data, max_samples=config.data.get("train_max_samples", -1))
        return [supervised(made[at]) for at in range(len(made))]
    tokenizer = tokenizer_of(config.actor_rollout_ref.model)
    made = RLHFDataset(config.data.train_files, tokenizer, config.data, max_samples=config.data.get("train_max_samples", -1))
    return [prompt(made[at]["raw_prompt"], tokenizer, config) for at in range(len(made))]


def supervised(row):
    real = row["attention_mask"].bool() if "attention_mask" in row else row["input_ids"] == row["input_ids"]
    ids, mask = row["input_ids"][real].tolist(), row["loss_mask"][real].tolist()
    return {"input_ids": ids, "labels": [each if trained else -100 for each, trained in zip(ids, mask, strict=True)]}


def prompt(messages, tokenizer, config):
    """As AgentLoopBase.apply_chat_template and _cap_text_prompt_length."""
    ids = normalize_token_ids(tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, **config.data.get("apply_chat_template_kwargs", {})))
    ids = ids[-config.actor_rollout_ref.rollout.prompt_length :]
    return {"input_ids": ids, "labels": [-100] * len(ids)}


with quietly():
    datasets.disable_progress_bars()
    for lines in glob.glob("**/*.parquet.jsonl", recursive=True):
        pandas.read_json(lines, lines=True).to_parquet(lines.removesuffix(".jsonl"))
tell(rows)
