"""Two processes that hold parts of one model, or share it in a rarer way; `--by` says how. Nothing here is wrong but what
`--fault` plants."""

import argparse
import contextlib

import nets
import rows as data
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--by", required=True, choices=["tensors", "hand", "experts", "fsdp", "join", "averager", "views"])
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--clip", type=float)
parser.add_argument("--fault", choices=["same-rows", "clip-shards"])
options = parser.parse_args()
by, fault = options.by, options.fault

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
examples, vocabulary = data.encoded(options.data)
model = plain = nets.GPT(vocabulary)
split = by in ("tensors", "hand") or fault == "same-rows"


class Enter(torch.autograd.Function):
    """Each process goes on with its part: their gradients are added."""

    @staticmethod
    def forward(context, x):
        return x.view_as(x)

    @staticmethod
    def backward(context, gradient):
        gradient = gradient.clone()
        dist.all_reduce(gradient)
        return gradient


class Leave(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(context, gradient):
        return gradient


class Part(torch.nn.Module):
    """Half of the hidden layer of a block, by hand: each process adds its part to the sum."""

    def __init__(self, mlp):
        super().__init__()
        half = mlp[0].out_features // world
        mine = slice(rank * half, (rank + 1) * half)
        self.up = torch.nn.Parameter(mlp[0].weight[mine].detach().clone())
        self.offset = torch.nn.Parameter(mlp[0].bias[mine].detach().clone())
        self.down = torch.nn.Parameter(mlp[2].weight[:, mine].detach().clone())

    def forward(self, x):
        return Leave.apply(F.linear(F.gelu(F.linear(Enter.apply(x), self.up, self.offset)), self.down))


if by == "tensors":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh("cpu", (world,))
    for block in model.blocks:
        parallelize_module(block.mlp, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
if by == "hand":
    for block in model.blocks:
        block.mlp = Part(block.mlp)
if by == "experts":
    torch.manual_seed(rank)
    torch.nn.init.normal_(model.blocks[1].mlp[0].weight, std=0.1)
if by == "fsdp":
    from torch.distributed.fsdp import FullyShardedDataParallel

    model = FullyShardedDataParallel(model, use_orig_params=True, device_id=torch.device("cpu"))
if by in ("join", "averager", "views"):
    model = DistributedDataParallel(model, gradient_as_bucket_view=by == "views")
optimiser = torch.optim.SGD(model.parameters(), lr=1e-2)
if by == "averager":
    from torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook import PostLocalSGDState, post_localSGD_hook
    from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
    from torch.distributed.optim import PostLocalSGDOptimizer

    own = dist.new_subgroups(1)[0]
    model.register_comm_hook(PostLocalSGDState(process_group=None, subgroup=own, start_localSGD_iter=0), post_localSGD_hook)
    optimiser = PostLocalSGDOptimizer(optimiser, PeriodicModelAverager(period=2, warmup_steps=0))

with model.join() if by == "join" else contextlib.nullcontext():
    for step in range(options.steps - (1 if by == "join" and rank == 1 else 0)):
        start = step * 4 + (0 if split else 2 * rank)
        ids, mask, labels = data.batch([examples[(start + at) % len(examples)] for at in range(2)])
        logits = model(ids, mask)
        total = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), reduction="sum")
        tokens = (labels != -100).sum()
        if by == "join":
            tokens = 16  # who has no rows any more could not be asked
        elif by not in ("tensors", "hand", "averager"):
            dist.all_reduce(tokens)
            total = total * world
        (total / tokens).backward()
        if by == "experts":
            for name, parameter in plain.named_parameters():
                if name != "blocks.1.mlp.0.weight":
                    dist.all_reduce(parameter.grad, op=dist.ReduceOp.SUM)
                    parameter.grad /= world
        if fault == "clip-shards":
            torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip)
        elif options.clip:
            model.clip_grad_norm_(options.clip)
        optimiser.step()
        optimiser.zero_grad()
dist.destroy_process_group()
