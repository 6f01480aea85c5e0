"""A fine-tuning loop as people write it, on a Llama of transformers: epochs, a shuffled DataLoader, micro-batches, a schedule, checkpoints.

`--bug` has one defect of a public project, rebuilt from the description in its thread:
  verl-7401            resumed at the end of an epoch, it goes over the next epoch without training
  mini-trainer-79      resumed, it trains the last batch once more
  starvla-210          the schedule goes on with each micro-batch
  transformers-46634   packed rows with a mask of ones: examples see each other
  olmo-core-828        layers are computed again with other dropout
  prime-rl-2562        each process divides by its own tokens
and some of no thread:
  bool-mask            a mask of booleans, which eager attention adds to its scores
  unscaled             attention that was patched, and forgets to divide by the root of the width
  moving-average       a layer keeps an average of what it saw, and sees it again when it is computed again
"""

import argparse
import os

import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader
from transformers import LlamaConfig, LlamaForCausalLM

PUBLIC = ["verl-7401", "mini-trainer-79", "starvla-210", "transformers-46634", "olmo-core-828", "prime-rl-2562"]
BUGS = [*PUBLIC, "bool-mask", "unscaled", "moving-average"]
parser = argparse.ArgumentParser()
parser.add_argument("--bug", choices=BUGS)
parser.add_argument("--micro-batch", type=int, default=4)
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--stop-after", type=int, default=6, help="optimiser steps")
parser.add_argument("--pack", action="store_true")
parser.add_argument("--recompute", action="store_true")
parser.add_argument("--dropout", type=float, default=0.0)
parser.add_argument("--checkpoint")
parser.add_argument("--resume")
arguments = parser.parse_args()
bug = arguments.bug

world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
if world > 1:
    torch.distributed.init_process_group("gloo")

torch.manual_seed(11)
config = LlamaConfig(
    vocab_size=73, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, attention_dropout=0.0
)
model = LlamaForCausalLM(config).train()
if arguments.dropout:
    for layer in model.model.layers:
        inner = layer.mlp
        layer.mlp = torch.nn.Sequential(inner, torch.nn.Dropout(arguments.dropout))
if arguments.recompute:
    for layer in model.model.layers:
        plain = layer.mlp.forward
        layer.mlp.forward = lambda h, plain=plain: checkpoint(
            plain, h, use_reentrant=False, preserve_rng_state=bug != "olmo-core-828"
        )

if bug == "moving-average":
    for layer in model.model.layers:
        layer.input_layernorm.register_buffer("average", torch.zeros(config.hidden_size))

        def shifted(module, _, output):
            with torch.no_grad():
                module.average.lerp_(output.mean((0, 1)), 0.1)
            return output - module.average.clone()

        layer.input_layernorm.register_forward_hook(shifted)
if bug == "unscaled":
    scaled = F.scaled_dot_product_attention
    F.scaled_dot_product_attention = lambda *values, scale=None, **named: scaled(*values, scale=1.0, **named)

examples = []
for at in range(16):
    length = 5 + at * 7 % 9
    examples.append({"ids": [(at * 31 + place * place * 5) % 70 + 3 for place in range(length)], "prompt": 2 + at % 2})


def collate(rows):
    if arguments.pack:
        ids = torch.tensor([[id for row in rows for id in row["ids"]]])
        places = torch.tensor([[place for row in rows for place in range(len(row["ids"]))]])
        labels = torch.tensor([[-100 if at < row["prompt"] else id for row in rows for at, id in enumerate(row["ids"])]])
        batch = {"input_ids": ids, "position_ids": places}
        # Ones for every token, as a collator for padded rows makes them.
        return ({**batch, "attention_mask": torch.ones_like(ids)} if bug == "transformers-46634" else batch), labels
    width = max(len(row["ids"]) for row in rows)
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    mask, labels = torch.zeros_like(ids), torch.full_like(ids, -100)
    for at, row in enumerate(rows):
        own = torch.tensor(row["ids"])
        ids[at, : len(own)], mask[at, : len(own)] = own, 1
        labels[at, row["prompt"] : len(own)] = own[row["prompt"] :]
    if bug == "bool-mask":
        mask = torch.ones(width, width).tril().bool() & mask[:, None, None, :].bool()
    return {"input_ids": ids, "attention_mask": mask}, labels


def batches(epoch):
    order = torch.randperm(len(examples), generator=torch.Generator().manual_seed(epoch)).tolist()
    return DataLoader(order[rank::world], arguments.micro_batch, collate_fn=lambda picked: collate([examples[at] for at in picked]))


optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3)
schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda at: 1 / (1 + at))
steps_of_epoch = len(batches(0)) // arguments.accumulate
step, skip = 0, 0
if arguments.resume:
    state = torch.load(arguments.resume, weights_only=True)
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    schedule.load_state_dict(state["schedule"])
    step = state["step"]
    # Batches of its epoch that were trained: at the end of one, those of the next are not.
    skip = state["batches"] if bug == "verl-7401" else state["batches"] % (steps_of_epoch * arguments.accumulate)
    skip -= bug == "mini-trainer-79" and skip > 0

seen = skip
for epoch in range(step // steps_of_epoch, 4):
    window = []
    for at, batch in enumerate(batches(epoch)):
        if at < skip or step == arguments.stop_after:
            continue
        window.append(batch)
        seen = at + 1
        if len(window) < arguments.accumulate:
            continue
        tokens = sum((labels[:, 1:] != -100).sum() for _, labels in window)
        if world > 1:
            if bug != "prime-rl-2562":
                torch.distributed.all_reduce(tokens)
                tokens = tokens / world
        for inputs, labels in window:
            logits = model(**inputs, use_cache=False).logits
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100, reduction="sum")
            (loss / tokens).backward()
            if bug == "starvla-210":
                schedule.step()
        if world > 1:
            for parameter in model.parameters():
                torch.distributed.all_reduce(parameter.grad)
                parameter.grad /= world
        optimiser.step()
        if bug != "starvla-210":
            schedule.step()
        optimiser.zero_grad()
        step, window = step + 1, []
        print("step", step, "loss", float(loss / tokens))
    skip = 0
if arguments.checkpoint and rank == 0:
    state = {"model": model.state_dict(), "optimiser": optimiser.state_dict(), "schedule": schedule.state_dict()}
    torch.save({**state, "step": step, "batches": seen}, arguments.checkpoint)
