"""The rows that torchtune itself makes of configurations, as JSON: python torchtune_rows.py FILE..., in the folder of the run."""

import argparse
import base64
import json
import pathlib
import shlex

from _told import tell
from lossproof.adapters.common._library import quietly

with quietly():
    import datasets
    from omegaconf import ListConfig, OmegaConf
    from torchtune import config
    from torchtune.config._utils import _merge_yaml_and_cli_args
    from torchtune.datasets import ConcatDataset, PackedDataset
    from torchtune.models.qwen2._tokenizer import bytes_to_unicode


def vocabulary(folder):
    """The files that torchtune reads, from tokenizer.json, which it does not read."""
    model = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]), encoding="utf-8")
    merges = [each if isinstance(each, str) else " ".join(each) for each in model["merges"]]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]), encoding="utf-8")
    byte_of = {letter: byte for byte, letter in bytes_to_unicode().items()}
    (folder / "original").mkdir()
    ranks = [base64.b64encode(bytes(byte_of[letter] for letter in token)) + b" %d\n" % rank for token, rank in model["vocab"].items()]
    (folder / "original" / "tokenizer.model").write_bytes(b"".join(ranks))


def resolved(file):
    """As TuneRecipeArgumentParser reads a command, or a file by itself."""
    words = []
    if file.endswith(".sh"):
        words = shlex.split(pathlib.Path(file).read_text().replace("\\\n", " "), comments=True)
        at = words.index("--config")
        file, words = words[at + 1], words[at + 2 :]
    loaded = OmegaConf.to_container(OmegaConf.load(file), resolve=False)
    return _merge_yaml_and_cli_args(argparse.Namespace(**loaded), words)


def rows(file):
    made = resolved(file)
    tokenizer = config.instantiate(made.tokenizer)
    # As _setup_data of the recipes.
    if isinstance(made.dataset, ListConfig):
        rows = ConcatDataset(datasets=[config.instantiate(each, tokenizer) for each in made.dataset])
    else:
        rows = config.instantiate(made.dataset, tokenizer)
    # Packing has gone through them; rows are compared as they were before.
    rows = rows.ds if isinstance(rows, PackedDataset) else rows
    return [each for at in range(len(rows)) for each in told(rows[at])]


def told(row):
    pairs = [("tokens", "labels")] if "tokens" in row else [("chosen_input_ids", "chosen_labels"), ("rejected_input_ids", "rejected_labels")]
    return [{"input_ids": [int(id) for id in row[ids]], "labels": [int(label) for label in row[labels]]} for ids, labels in pairs]


with quietly():
    datasets.disable_progress_bars()
for name in ("qwen", "llama3"):
    vocabulary(pathlib.Path(name))
tell(rows)
