"""Logits of a checkpoint by transformers, for src/reference/model: as it is in float32, and in a true float64.

Reads one JSON object from stdin, {"cases": [{"folder", "rows": [{"ids", "attention", "positions"}]}]}, all rows of a case
of one length, and writes [{"float32": (B, T, V), "float64": (B, T, V)}]. `model.double()` is no float64 forward pass: norms,
rotary tables and softmax are computed in float32 there, so that they are replaced.
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM
from transformers.models.llama import modeling_llama

torch.set_num_threads(1)


def norm(self, states):
    return self.weight * states * torch.rsqrt(states.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)


def rotary(self, x, position_ids):
    angles = position_ids[:, :, None].double() * self.inv_freq.double()[None, None, :]
    both = torch.cat((angles, angles), dim=-1)
    return both.cos(), both.sin()


def logits(folder, rows, dtype):
    # sdpa: eager attention computes its softmax in float32, and its mask becomes -inf there.
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa").to(dtype).eval()
    if dtype == torch.float64:
        for module in model.modules():
            if isinstance(module, modeling_llama.LlamaRotaryEmbedding):
                # `.to` made the frequencies float64, which they had been rounded from; they are kept as they were.
                module.inv_freq = module.inv_freq.float()
    with torch.no_grad():
        return model(
            input_ids=torch.tensor([row["ids"] for row in rows]),
            attention_mask=torch.tensor([row["attention"] for row in rows]),
            position_ids=torch.tensor([row["positions"] for row in rows]),
        ).logits.tolist()


answers = []
for case in json.load(sys.stdin)["cases"]:
    single = logits(case["folder"], case["rows"], torch.float32)
    kept = modeling_llama.LlamaRMSNorm.forward, modeling_llama.LlamaRotaryEmbedding.forward
    modeling_llama.LlamaRMSNorm.forward, modeling_llama.LlamaRotaryEmbedding.forward = norm, rotary
    double = logits(case["folder"], case["rows"], torch.float64)
    modeling_llama.LlamaRMSNorm.forward, modeling_llama.LlamaRotaryEmbedding.forward = kept
    answers.append({"float32": single, "float64": double})
json.dump(answers, sys.stdout)
