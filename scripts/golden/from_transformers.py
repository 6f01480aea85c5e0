"""Writes golden/transformers: chat templates, masks, collators and logits processors as Python transformers has them.

    .venv/bin/python scripts/golden/from_transformers.py [--out FOLDER]
"""

import os
import platform

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import tokenizers
import torch
import transformers

from sources.huggingface import batches, chats
from sources.entries import folder_of, write


def main():
    torch.set_num_threads(1)
    folder = folder_of("transformers")
    versions = {
        "python": platform.python_version(),
        "transformers": transformers.__version__,
        "tokenizers": tokenizers.__version__,
        "torch": torch.__version__.split("+")[0],
    }
    files = {
        "chats": ("Conversations in each family's template: text and ids.", list(chats.chats())),
        "assistant-masks": ("Which tokens a template with generation marks gives to the assistant.", list(chats.masks())),
        "collators": ("Padded batches and their labels.", batches.collators()),
        "processors": ("What generate's logits processors leave of a row of logits.", batches.processors()),
    }
    for name, (about, entries) in sorted(files.items()):
        write(folder, name, about, "scripts/golden/from_transformers.py", versions, entries)


if __name__ == "__main__":
    main()
