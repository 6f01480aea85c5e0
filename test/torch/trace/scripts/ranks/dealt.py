"""ZeRO 1 by hand on two ranks: gradients are averaged, each rank steps the parameters that are dealt to it and sends them to the other.
`--clip` says by which norm they are bounded; `own`, `first-half` and `two-bounds` are wrong."""

import argparse

import nets
import rows as data
import torch
import torch.distributed as dist
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--clip", required=True, choices=["whole", "summed", "none", "own", "first-half", "two-bounds"])
parser.add_argument("--bound", type=float, default=0.1)
parser.add_argument("--wrapped", action="store_true", help="DistributedDataParallel averages")
options = parser.parse_args()
clip, bound = options.clip, options.bound

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
examples, vocabulary = data.encoded(options.data)
plain = nets.GPT(vocabulary)
model = torch.nn.parallel.DistributedDataParallel(plain) if options.wrapped else plain
parameters = list(plain.parameters())
own = parameters[rank::world]
optimiser = torch.optim.AdamW(own, lr=1e-3)


def squares(some):
    return sum(parameter.grad.pow(2).sum() for parameter in some)


def scale(some, norm, to):
    for parameter in some:
        parameter.grad.mul_((to / (norm + 1e-6)).clamp(max=1.0))


for step in range(3):
    ids, mask, labels = data.batch([examples[(4 * step + 2 * rank + at) % len(examples)] for at in range(2)])
    tokens = (labels != -100).sum()
    dist.all_reduce(tokens)
    logits = model(ids, mask)
    total = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), reduction="sum")
    (total * world / tokens).backward()
    if not options.wrapped:
        for parameter in parameters:
            dist.all_reduce(parameter.grad)
            parameter.grad /= world
    if clip == "whole":
        torch.nn.utils.clip_grad_norm_(parameters, bound)
    elif clip == "summed":
        found = squares(own)
        dist.all_reduce(found)
        scale(own, found.sqrt(), bound)
    elif clip == "own":
        torch.nn.utils.clip_grad_norm_(own, bound)
    elif clip == "first-half":
        scale(own, squares(own[: len(own) // 2]).sqrt(), bound)
    elif clip == "two-bounds":
        scale(own, squares(parameters).sqrt(), bound * (1 + rank))
    optimiser.step()
    plain.zero_grad()
    for at, parameter in enumerate(parameters):
        dist.broadcast(parameter.data, at % world)
    print("rank", rank, "step", step)
dist.destroy_process_group()
