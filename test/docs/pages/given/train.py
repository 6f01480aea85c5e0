"""The script that pages call train.py: chats, a small model, a loop by hand. It never trains the stop token of an answer.

Settings are given as `--name value` or `name=value`.
"""

import json
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler
from transformers import AutoTokenizer

settings = dict(data="data.jsonl", batch="2", accumulate="1", max_steps="4", save="", resume="", output="")
words = iter(sys.argv[1:])
for word in words:
    name, value = (word[2:], next(words)) if word.startswith("--") else word.split("=", 1)
    settings[name] = value
accumulate = int(settings["accumulate"])
torch.manual_seed(0)
torch.set_num_threads(1)
ranks = int(os.environ.get("WORLD_SIZE", "1"))
if ranks > 1:
    dist.init_process_group("gloo")

tokenizer = AutoTokenizer.from_pretrained("my-model")
STOP, PAD = tokenizer.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>"])


def encoded(row):
    ids, labels = [], []
    for message in row["messages"]:
        answers = message["role"] == "assistant"
        head = tokenizer.encode("<|im_start|>%s\n" % message["role"], add_special_tokens=False)
        words = tokenizer.encode(message["content"], add_special_tokens=False)
        end = tokenizer.encode("\n", add_special_tokens=False)
        ids += head + words + [STOP] + end
        labels += [-100] * len(head) + (words if answers else [-100] * len(words)) + [-100] * (1 + len(end))
    return ids, labels


def collated(rows):
    width = max(len(ids) for ids, _ in rows)
    return {
        "input_ids": torch.tensor([ids + [PAD] * (width - len(ids)) for ids, _ in rows]),
        "attention_mask": torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids, _ in rows]),
        "labels": torch.tensor([labels + [-100] * (width - len(labels)) for _, labels in rows]),
    }


class Model(nn.Module):
    def __init__(self, vocabulary, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.mix = nn.Linear(width, width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, input_ids, attention_mask=None):
        hidden = self.embed(input_ids)
        return self.head(torch.tanh(self.mix(hidden.cumsum(1))))


rows = [encoded(json.loads(line)) for line in open(settings["data"], encoding="utf-8")]
model = Model(len(tokenizer))
optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
step = 0
if os.path.exists(settings["resume"]):
    state = torch.load(settings["resume"])
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    step = state["step"]
trained = nn.parallel.DistributedDataParallel(model) if ranks > 1 else model
sampler = DistributedSampler(rows, shuffle=False) if ranks > 1 else None
loader = DataLoader(rows, batch_size=int(settings["batch"]), collate_fn=collated, sampler=sampler)
batches = [batch for _ in range(8 * accumulate) for batch in loader][step * accumulate :]
for at, batch in enumerate(batches, 1):
    logits = trained(batch["input_ids"], batch["attention_mask"])[:, :-1]
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch["labels"][:, 1:].flatten())
    (loss / accumulate).backward()
    if at % accumulate == 0:
        optimiser.step()
        optimiser.zero_grad()
        step += 1
        if settings["save"] and step == int(settings["max_steps"]):
            torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict(), "step": step}, settings["save"])
        if step >= int(settings["max_steps"]):
            break
