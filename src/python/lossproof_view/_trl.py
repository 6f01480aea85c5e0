"""Rows as `trl sft --config FILE` makes them: TRL's own parser, loader, trainer and collator."""

import dataclasses
import os

import yaml
from accelerate.commands.launch import launch_command_parser
from datasets import disable_progress_bars, load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, TrainingArguments
from trl import SFTTrainer
from trl.scripts.sft import make_parser
from trl.trainer import sft_trainer

from ._given import INDEX

try:
    from trl import get_dataset
except ImportError:  # Of an older TRL, which has no mixtures.
    get_dataset = None
try:
    from trl.cli.accelerate_config import resolve_accelerate_config_argument
except ImportError:  # Of an older TRL, which hands the keys of accelerate on as they are.

    def resolve_accelerate_config_argument(words):
        return words


# What the collator is given of a row.
COLUMNS = ("input_ids", "labels", "attention_mask", "completion_mask", "assistant_masks")
# Switches that change no row, and that need a GPU, a package or a large model.
OFF = {"activation_offloading": False, "dataset_num_proc": None, "loss_type": "nll", "model_init_kwargs": None, "shuffle_dataset": False, "trust_remote_code": False}


def make(config, given, room):
    """The rows that are given, or those that the configuration names."""
    files = [] if given is None else given.write(given.files, index=True)
    parsed, keys = arguments(config, room)
    training = parsed["SFTConfig"]
    settings = {name: plain(getattr(training, name)) for name in own_fields(type(training))}
    for name, value in OFF.items():
        if hasattr(training, name):
            setattr(training, name, value)
    disable_progress_bars()
    tokenizer = AutoTokenizer.from_pretrained(parsed["ModelConfig"].model_name_or_path, local_files_only=True)
    dataset = loaded(parsed, files)
    # A small model in place of the one that is named: only its tokenizer makes rows.
    size = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    tiny = AutoModelForCausalLM.from_config(LlamaConfig(vocab_size=len(tokenizer), **size))
    numbers = dataset[INDEX] if INDEX in dataset.column_names else None
    if hasattr(sft_trainer, "pack_dataset"):
        sft_trainer.pack_dataset = apart
    elif training.packing:
        raise ValueError("lossproof does not ask this version of TRL for packed rows")
    trainer = SFTTrainer(model=tiny, args=training, train_dataset=dataset, processing_class=tokenizer)
    rows = [labelled(trainer, row) for row in trainer.train_dataset]
    # Packing takes the column away, and no row out.
    if numbers is not None and any(row["number"] is None for row in rows):
        for row, number in zip(rows, numbers, strict=True):
            row["number"] = number
    return {"rows": rows, "settings": settings, "keys": keys}


def arguments(config, room):
    """As trl/scripts/sft.py parses them. Keys of transformers' TrainingArguments say how the machine trains: they stay out."""
    with open(config, encoding="utf-8") as opened:
        given = yaml.safe_load(opened)
    machine = {field.name for field in dataclasses.fields(TrainingArguments)}
    kept = os.path.join(room, "config.yaml")
    with open(kept, "w", encoding="utf-8") as opened:
        yaml.safe_dump({key: value for key, value in given.items() if key not in machine and key != "env"}, opened)
    parser = make_parser()
    words = ["--config", kept, "--output_dir", room, "--use_cpu", "true", "--bf16", "false", "--report_to", "none"]
    *made, remaining = parser.parse_args_and_config(words, return_remaining_strings=True)
    # As trl/cli/commands/training.py: what no dataclass has goes to accelerate.
    launcher = launch_command_parser()
    launcher.error = refused
    launcher.parse_args([*resolve_accelerate_config_argument(remaining), "sft.py"])
    options = [action.dest for each in (parser, launcher) for action in each._actions]
    return {type(each).__name__: each for each in made}, options


def refused(message):
    raise ValueError("accelerate launch: " + message)


def loaded(parsed, files):
    mixture, script = parsed.get("DatasetMixtureConfig"), parsed["ScriptArguments"]
    if mixture is None or not mixture.datasets:
        if files:
            return load_dataset("json", data_files=files, split="train")
        return load_dataset(script.dataset_name, name=script.dataset_config)[script.dataset_train_split]
    if files and len(files) != len(mixture.datasets):
        return load_dataset("json", data_files=files, split="train")
    for each, file in zip(mixture.datasets, files or [None] * len(mixture.datasets), strict=True):
        if file is not None:
            each.path, each.name, each.data_dir, each.data_files, each.split, each.fraction = "json", None, None, file, "train", None
            each.columns = each.columns and [*each.columns, INDEX]
    mixture.streaming, mixture.test_split_size = False, None
    return get_dataset(mixture)[script.dataset_train_split]


PACKED = getattr(sft_trainer, "pack_dataset", None)


def apart(dataset, seq_length, strategy, map_kwargs):
    """Each row packed by itself: what packing cuts off is lost, and nothing is joined. The other strategies lose nothing."""
    if strategy != "bfd":
        return dataset
    return PACKED(dataset, seq_length, strategy, {**(map_kwargs or {}), "batch_size": 1})


def labelled(trainer, row):
    """The labels of the row itself, or, before TRL 1.0, those that the collator makes."""
    ids = list(row["input_ids"])
    if "labels" in row:
        labels = list(row["labels"])
    else:
        batch = trainer.data_collator([{name: row[name] for name in COLUMNS if name in row}])
        labels = batch["labels"][0].tolist()[: len(ids)]
    return {"number": row.get(INDEX), "ids": ids, "labels": labels}


def own_fields(config):
    """What TRL adds to the arguments of transformers."""
    theirs = {field.name for field in dataclasses.fields(TrainingArguments)}
    return [field.name for field in dataclasses.fields(config) if field.name not in theirs]


def plain(value):
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
