"""Two ranks, each with its own rows, under one of the ways to share a model: DDP, FSDP2 (fully_shard), DeepSpeed's ZeRO. The loss
is a mean over the tokens of both; `per-rank` takes each one's own. Started by torchrun."""

import argparse

import batches
import tiny
import torch
import torch.distributed as dist

batches.FAULTS.append("per-rank")
parser = argparse.ArgumentParser()
parser.add_argument("--how", default="fsdp2", choices=["ddp", "fsdp2", "zero1", "zero2", "zero3"])
options = batches.options_of(parser)

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
tokenizer = batches.tokenizer()
engine = None


def of_zero(stage):
    import deepspeed

    config = {
        "train_micro_batch_size_per_gpu": 1,
        "zero_optimization": {"stage": stage},
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
    }
    model = tiny.rotary(len(tokenizer))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimiser, config=config)
    return engine


def of_torch(how):
    model = tiny.rotary(len(tokenizer))
    if how == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(model)
    else:
        from torch.distributed.fsdp import fully_shard

        mesh = dist.device_mesh.init_device_mesh("cpu", (world,))
        for layer in model.model.layers:
            fully_shard(layer, mesh=mesh)
        fully_shard(model, mesh=mesh)
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)


if options.how.startswith("zero"):
    model = engine = of_zero(int(options.how[-1]))
else:
    model, optimiser = of_torch(options.how)
rows = batches.batches(options.data, tokenizer, options.fault, size=1)
mine = rows[rank : len(rows) // world * world : world]  # as many steps on each
for step, batch in enumerate(mine):
    logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    tokens = batches.tokens_of(batch["labels"])
    if options.fault != "per-rank":
        dist.all_reduce(tokens)
        tokens = tokens / world  # the gradients are averaged over the processes
    loss = batches.loss_of(logits, batch["labels"], tokens)
    if engine is None:
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    else:
        engine.backward(loss)
        engine.step()
    print("rank", rank, "step", step, "loss", float(loss))
dist.destroy_process_group()
