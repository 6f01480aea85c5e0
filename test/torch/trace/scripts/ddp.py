"""Two processes that share their gradients; the loss is a mean over the tokens of both. `--fault` takes each one's own."""

import argparse

import tiny
import torch
import torch.distributed as dist
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--steps", type=int, default=2, help="at most those of one pass over the data, if more than 2")
parser.add_argument("--fault", choices=["per-rank"])
options = parser.parse_args()

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
tokenizer = tiny.family("qwen")
tokenizer.chat_template = tiny.GENERATION_TEMPLATE
model = torch.nn.parallel.DistributedDataParallel(tiny.rotary(len(tokenizer)))
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
data = [tiny.chat_ids(tokenizer, row["messages"]) for row in tiny.rows(options.data)]

for step in range(min(options.steps, max(2, len(data) // world))):
    example = data[(step * world + rank) % len(data)]
    ids, labels = torch.tensor([example["input_ids"]]), torch.tensor([example["labels"]])[:, 1:]
    logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[:, :-1]
    total = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum")
    tokens = (labels != tiny.IGNORE).sum()
    if options.fault == "per-rank":
        loss = total / tokens
    else:
        dist.all_reduce(tokens)
        loss = total * world / tokens  # the gradients are averaged over the processes
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("rank", rank, "step", step, "loss", float(loss))
dist.destroy_process_group()
