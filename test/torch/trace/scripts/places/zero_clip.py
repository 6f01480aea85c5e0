"""Two ranks under DeepSpeed's ZeRO, which keeps the gradients in partitions: `--clip` says who bounds them. Nothing here is wrong but
what `own`, `first`, `capped`, `mixed` and `torch` do. Started by torchrun."""

import argparse

import batches
import deepspeed
import tiny
import torch
import torch.distributed as dist
from deepspeed.utils import safe_get_full_grad, safe_get_local_grad, safe_set_full_grad, safe_set_local_grad

RIGHT = ["config", "whole", "full", "both", "none"]
WRONG = ["own", "first", "capped", "mixed", "torch"]
parser = argparse.ArgumentParser()
parser.add_argument("--stage", type=int, default=2)
parser.add_argument("--clip", choices=RIGHT + WRONG, required=True)
parser.add_argument("--bound", type=float, default=0.1)
parser.add_argument("--accumulate", type=int, default=1)
options = batches.options_of(parser)
clip, bound = options.clip, options.bound

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
tokenizer = batches.tokenizer()
model = tiny.rotary(len(tokenizer))
engine, *_ = deepspeed.initialize(
    model=model,
    optimizer=torch.optim.AdamW(model.parameters(), lr=1e-3),
    config={
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": options.accumulate,
        "gradient_clipping": bound if clip in ("config", "both") else 0.0,
        "zero_optimization": {"stage": options.stage},
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
    },
)


def parts():
    """This rank's part of the gradient, in pieces that are written in place."""
    if options.stage == 3:
        return [safe_get_local_grad(parameter) for parameter in model.parameters()]
    return [piece for pieces in engine.optimizer.averaged_gradients.values() for piece in pieces]


def scale(factor):
    if options.stage == 3:
        for parameter in model.parameters():
            safe_set_local_grad(parameter, safe_get_local_grad(parameter) * factor)
    else:
        for piece in parts():
            piece.mul_(factor)


def bounded(norm):
    return (bound / (norm + 1e-6)).clamp(max=1.0)


def clip_by_hand():
    squares = sum(piece.pow(2).sum() for piece in parts())
    if clip == "own":  # the norm of this rank's partition
        scale(bounded(squares.sqrt()))
    elif clip == "whole":
        dist.all_reduce(squares)
        scale(bounded(squares.sqrt()))
    elif clip == "capped":  # each rank a share of the bound, and its own norm to it
        scale((bound * (rank + 1) / (squares.sqrt() + 1e-6)).clamp(max=1.0))
    elif clip == "mixed":  # a mean of norms is right, but one rank forgets the root
        dist.all_reduce(squares)
        scale(bounded(squares if rank else squares.sqrt()))
    elif clip in ("full", "first"):
        full = [(parameter, safe_get_full_grad(parameter)) for parameter in model.parameters()]
        factor = bounded(torch.stack([gradient.norm() for _, gradient in full]).norm())
        for parameter, gradient in full:
            if clip == "full" or rank == 0:
                safe_set_full_grad(parameter, gradient * factor)
    elif clip in ("torch", "both"):
        torch.nn.utils.clip_grad_norm_(engine.parameters(), bound)


rows = batches.batches(options.data, tokenizer, options.fault, size=1)
mine = rows[rank : len(rows) // world * world : world]
for step, batch in enumerate(mine):
    logits = engine(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    tokens = batches.tokens_of(batch["labels"])
    if options.accumulate == 1:
        dist.all_reduce(tokens)
        tokens = tokens / world
    engine.backward(batches.loss_of(logits, batch["labels"], tokens))
    if engine.is_gradient_accumulation_boundary():
        clip_by_hand()
    engine.step()
    print("rank", rank, "step", step)
dist.destroy_process_group()
