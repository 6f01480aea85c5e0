"""Two processes that train one model by data parallelism; the loss is a mean over the tokens of both. `--by` says who shares
the gradients, `--fault` plants one mistake."""

import argparse
import contextlib

import nets
import rows as data
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

FAULTS = [
    "hooks-lost", "bypassed", "never-synced", "no-broadcast", "changed-behind", "clip-one", "rate-one", "decay-one",
    "same-rows", "per-rank", "clip-local", "some-reduced", "not-reduced", "early", "eval-one", "one-batch",
]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--by", default="ddp", choices=["ddp", "hand", "sum", "fsdp2", "zero", "local", "server", "apart"])
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--clip", type=float)
parser.add_argument("--steps", type=int, default=5)
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()
fault, by = options.fault, options.by

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank if fault == "no-broadcast" or by == "apart" else 0)
examples, vocabulary = data.encoded(options.data)
model = nets.GPT(vocabulary)
plain = model
if by in ("ddp", "zero"):
    model = DistributedDataParallel(model)
if by == "fsdp2":
    from torch.distributed.fsdp import fully_shard

    for block in model.blocks:
        fully_shard(block)
    fully_shard(model)
if fault == "hooks-lost":
    model.double()
if fault == "changed-behind" and rank == 1:
    torch.nn.init.normal_(plain.blocks[0].attention.qkv.weight)
kind = dict(lr=1e-2 if fault == "rate-one" and rank == 1 else 1e-3)
if fault == "decay-one" and rank == 1:
    kind["weight_decay"] = 0.5
if by == "zero":
    from torch.distributed.optim import ZeroRedundancyOptimizer

    optimiser = ZeroRedundancyOptimizer(model.parameters(), torch.optim.AdamW, **kind)
else:
    optimiser = torch.optim.AdamW(model.parameters(), **kind)


def share(step):
    """What a script without a wrapper does between backward and step."""
    for at, parameter in enumerate(plain.parameters()):
        if fault == "not-reduced" or fault == "some-reduced" and at % 3 == 0:
            continue
        dist.all_reduce(parameter.grad)
        if by == "hand":
            parameter.grad /= world


def average():
    for parameter in plain.parameters():
        dist.all_reduce(parameter.data)
        parameter.data /= world


if fault == "eval-one" and rank == 1:
    model.eval()
for step in range(options.steps):
    batches = []
    for micro in range(options.accumulate):
        start = (step * options.accumulate + micro) * 2 * world
        if fault == "one-batch":
            start = 0
        own = start if fault in ("same-rows", "one-batch") else start + 2 * rank
        batches.append(data.batch([examples[(own + at) % len(examples)] for at in range(2)]))
    tokens = torch.tensor(sum(int((labels != -100).sum()) for _, _, labels in batches))
    if fault != "per-rank" and by not in ("local", "apart"):
        dist.all_reduce(tokens)
    factor = 1 if by in ("sum", "local", "apart", "server") or fault == "per-rank" else world
    for micro, (ids, mask, labels) in enumerate(batches):
        last = micro == options.accumulate - 1 and fault != "never-synced"
        quiet = model.no_sync() if not last and by in ("ddp", "zero") else contextlib.nullcontext()
        if fault == "early" and micro == options.accumulate - 1:
            share(step)
        with quiet:
            logits = (plain if fault == "bypassed" else model)(ids, mask)
            total = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), reduction="sum")
            (total * factor / tokens).backward()
    if by in ("hand", "sum") and fault != "early":
        share(step)
    if by == "server":
        for parameter in plain.parameters():
            dist.reduce(parameter.grad, 0)
    if fault == "clip-local":  # A norm of the shards that this rank has.
        norms = [parameter.grad.to_local().norm() for parameter in model.parameters()]
        factor = options.clip / (torch.stack(norms).norm() + 1e-6)
        for parameter in model.parameters():
            parameter.grad.to_local().mul_(factor.clamp(max=1))
    elif options.clip and (fault != "clip-one" or rank == 0):
        torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip)
    if by != "server" or rank == 0:
        optimiser.step()
    optimiser.zero_grad()
    if by == "server":
        for parameter in plain.parameters():
            dist.broadcast(parameter.data, 0)
    if by == "local" and step % 3 == 2:
        average()
dist.destroy_process_group()
