"""Log-probabilities, entropy and exact KL in torch float64, for the row kernel.

Reads {"cases": [{"policy", "reference": path of float64 little-endian (N, V), "rows", "vocab", "targets", "temperature"}]} from
stdin and writes [{"logprobs", "refLogprobs", "entropy", "kl"}], infinities as strings.
"""

import json
import math
import sys

import torch

torch.set_num_threads(1)


def load(path, rows, vocab):
    with open(path, "rb") as file:
        return torch.frombuffer(bytearray(file.read()), dtype=torch.float64).view(rows, vocab)


def wire(values):
    return [value if math.isfinite(value) else str(value) for value in values.tolist()]


answers = []
for case in json.load(sys.stdin)["cases"]:
    shape = case["rows"], case["vocab"]
    logp = torch.log_softmax(load(case["policy"], *shape) / case["temperature"], dim=-1)
    logr = torch.log_softmax(load(case["reference"], *shape) / case["temperature"], dim=-1)
    p = logp.exp()
    pick = torch.tensor(case["targets"])[:, None]
    answers.append(
        {
            "logprobs": wire(logp.gather(1, pick)[:, 0]),
            "refLogprobs": wire(logr.gather(1, pick)[:, 0]),
            # xlogy and friends: a token of probability 0 adds nothing.
            "entropy": wire(torch.special.entr(p).sum(-1)),
            "kl": wire(torch.where(p > 0, p * (logp - logr), 0.0).sum(-1)),
        }
    )
json.dump(answers, sys.stdout)
