"""Rows as `llamafactory-cli train FILE` makes them in its stage sft: LLaMA-Factory's own parser, loader and processor."""

import dataclasses
import json
import os
from copy import deepcopy

import yaml
from datasets import disable_progress_bars
from llamafactory.data import get_dataset
from llamafactory.data.template import TEMPLATES, get_template_and_fix_tokenizer
from llamafactory.hparams import DataArguments, FinetuningArguments, GeneratingArguments, ModelArguments, TrainingArguments
from transformers import AutoTokenizer, HfArgumentParser

# A configuration changes the template that it names: each is as in a process of its own.
PRISTINE = deepcopy(TEMPLATES)
# What joins rows, takes some away, or keeps them for the next run.
OFF = {"eval_dataset": None, "interleave_probs": None, "max_samples": None, "mix_strategy": "concat", "neat_packing": False, "packing": False}
OFF.update({"overwrite_cache": True, "preprocessing_num_workers": None, "streaming": False, "tokenized_path": None, "val_size": 0})


def make(config, given, room):
    """The rows that are given, or those that the configuration names."""
    TEMPLATES.update(deepcopy(PRISTINE))
    model, data, training, finetuning, keys = arguments(config, room)
    settings = {field.name: plain(getattr(data, field.name)) for field in dataclasses.fields(data)}
    if finetuning.stage != "sft":
        raise ValueError("the stage is " + finetuning.stage)
    most = data.max_samples
    for name, value in OFF.items():
        setattr(data, name, value)
    disable_progress_bars()
    tokenizer = AutoTokenizer.from_pretrained(model.model_name_or_path, local_files_only=True)
    template = get_template_and_fix_tokenizer(tokenizer, data)

    def rows():
        try:
            made = get_dataset(template, model, data, training, stage="sft", tokenizer=tokenizer)["train_dataset"]
        except RuntimeError as nothing:  # It stops where it leaves every row out.
            if given is None or "Cannot find valid samples" not in str(nothing):
                raise
            return []
        return [{"number": None, "ids": list(row["input_ids"]), "labels": list(row["labels"])} for row in made]

    if given is None:
        data.max_samples = most
        return {"rows": rows(), "settings": settings, "keys": keys}
    with open(os.path.join(data.dataset_dir, "dataset_info.json"), encoding="utf-8") as opened:
        info = json.load(opened)
    names = data.dataset

    def of(at, path):
        entry = {key: value for key, value in info[names[at]].items() if key not in ("num_samples", "split")}
        with open(os.path.join(room, "dataset_info.json"), "w", encoding="utf-8") as opened:
            json.dump({"rows": {**entry, "file_name": os.path.basename(path)}}, opened)
        data.dataset_dir, data.dataset = room, ["rows"]
        return rows()

    return {"rows": given.numbered(of, most), "settings": settings, "keys": keys}


def arguments(config, room):
    """As get_train_args. Arguments of transformers say how the machine trains: they stay out."""
    with open(config, encoding="utf-8") as opened:
        given = yaml.safe_load(opened)
    machine = {field.name for field in dataclasses.fields(TrainingArguments)}
    kinds = [ModelArguments, DataArguments, TrainingArguments, FinetuningArguments, GeneratingArguments]
    parser = HfArgumentParser(kinds)
    kept = {key: value for key, value in given.items() if key not in machine}
    model, data, training, finetuning, _ = parser.parse_dict({**kept, "output_dir": room, "report_to": "none", "use_cpu": True})
    return model, data, training, finetuning, [action.dest for action in parser._actions]


def plain(value):
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)
