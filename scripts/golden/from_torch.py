"""Writes golden/torch: answers of torch in float64, gradients by autograd, on inputs drawn from a fixed sequence.

    .venv/bin/python scripts/golden/from_torch.py [--out FOLDER]
"""

import platform

import torch

from sources.pytorch import batches, loss, scoring, values
from sources.entries import folder_of, write

ABOUTS = {
    "scoring": "Log-probabilities, entropy, KL over the vocabulary, the supervised loss, half precision.",
    "kl": "KL estimators with their clamps and corrections, and their slopes.",
    "value-loss": "Losses of a critic, clipped or not, with their gradients.",
    "policy-loss": "Policy losses in every aggregation and objective, with their gradients.",
    "advantages": "Advantages of groups of rewards, in every variant.",
    "gae": "Generalised advantage estimation over masks with gaps.",
    "whitening": "Whitening under a mask, in every variant.",
    "preference": "Losses on pairs of completions.",
}


def main():
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    folder = folder_of("torch")
    versions = {"python": platform.python_version(), "torch": torch.__version__.split("+")[0]}
    files = {"scoring": scoring.entries(), **loss.entries(), **values.entries(), **batches.entries()}
    for name, entries in sorted(files.items()):
        write(folder, name, ABOUTS[name], "scripts/golden/from_torch.py", versions, entries)


if __name__ == "__main__":
    main()
