"""Correct trainings as people write them every day, with a schedule, accumulation and clipping: adapters of PEFT, compiled models,
reward models with adapters, and, under torchrun, DDP, FSDP2 and ZeRO 1. Nothing here is to be remarked on."""

import argparse
import contextlib

import batches
import tiny
import torch
import torch.distributed as dist
import torch.nn.functional as F

ALONE = ["lora", "dora", "checkpointed", "halves", "reward-lora", "compiled", "compiled-half", "trainer"]
SHARED = ["ddp", "ddp-lora", "fsdp2", "fsdp2-lora", "zero1"]
parser = argparse.ArgumentParser()
parser.add_argument("--shape", choices=ALONE + SHARED, required=True)
parser.add_argument("--output")
options = batches.options_of(parser)
shape = options.shape
ACCUMULATE, BOUND = 2, 1.0

if shape in SHARED:
    dist.init_process_group("gloo")
rank, world = (dist.get_rank(), dist.get_world_size()) if shape in SHARED else (0, 1)
tokenizer = batches.tokenizer()
model = plain = tiny.rotary(len(tokenizer))


def adapted(model, **more):
    import peft

    config = dict(task_type="CAUSAL_LM", r=4, lora_alpha=8, lora_dropout=0.05, target_modules="all-linear")
    return peft.get_peft_model(model, peft.LoraConfig(**{**config, **more}))


def grouped(model):
    """No decay for what has one dimension."""
    free = [each for each in model.parameters() if each.requires_grad]
    decay = [each for each in free if each.ndim > 1]
    rest = [each for each in free if each.ndim <= 1]
    groups = [{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.AdamW([group for group in groups if group["params"]], lr=1e-3)


if shape in ("lora", "ddp-lora", "fsdp2-lora"):
    model = adapted(model)
if shape == "dora":
    model = adapted(model, use_dora=True, lora_dropout=0.0)
if shape == "checkpointed":
    model.gradient_checkpointing_enable()
    model.enable_input_require_grads()
    model = adapted(model, target_modules=["q_proj", "v_proj"], lora_dropout=0.0)
if shape == "halves":
    model = adapted(model.to(torch.bfloat16), lora_dropout=0.0)  # PEFT keeps its adapters in float32
if shape == "reward-lora":
    import transformers

    config = transformers.LlamaConfig(**{**model.config.to_dict(), "num_labels": 1, "pad_token_id": tokenizer.pad_token_id})
    model = adapted(transformers.LlamaForSequenceClassification(config), task_type="SEQ_CLS")
if shape.startswith("compiled"):
    model = torch.compile(model)
if shape.startswith("ddp"):
    model = torch.nn.parallel.DistributedDataParallel(model)
if shape.startswith("fsdp2"):
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    mesh = dist.device_mesh.init_device_mesh("cpu", (world,))
    policy = MixedPrecisionPolicy(reduce_dtype=torch.float32)
    for layer in plain.model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
model.train()
rows = batches.batches(options.data, tokenizer, None, size=1)[rank::world] * 4


def loss_of(batch, tokens):
    if shape == "reward-lora":
        worse = torch.where(batch["labels"] >= 0, (batch["input_ids"] + 11) % len(tokenizer), batch["input_ids"])
        better, other = (model(input_ids=ids, attention_mask=batch["attention_mask"]).logits[:, 0] for ids in (batch["input_ids"], worse))
        return -F.logsigmoid(better - other).mean() / ACCUMULATE
    half = torch.autocast("cpu", torch.bfloat16) if shape == "compiled-half" else contextlib.nullcontext()
    with half:
        logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
    return batches.loss_of(logits.float(), batch["labels"], tokens)


def by_trainer():
    import transformers

    examples = [{key: value[0].tolist() for key, value in row.items()} for row in rows]
    arguments = transformers.TrainingArguments(
        output_dir=options.output, per_device_train_batch_size=1, gradient_accumulation_steps=ACCUMULATE, max_steps=3,
        warmup_steps=1, **{**tiny.PLAIN, "lr_scheduler_type": "cosine"},
    )
    transformers.Trainer(model=adapted(model), args=arguments, train_dataset=examples).train()


def by_engine():
    import deepspeed

    optimiser = grouped(model)
    config = {
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": ACCUMULATE,
        "gradient_clipping": BOUND,
        "zero_optimization": {"stage": 1},
        "bf16": {"enabled": True},
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
    }
    scheduler = torch.optim.lr_scheduler.LinearLR(optimiser, 0.5, total_iters=4)
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimiser, lr_scheduler=scheduler, config=config)
    for at in range(0, 6, ACCUMULATE):
        micro = rows[at : at + ACCUMULATE]
        tokens = counted(micro)
        for batch in micro:
            logits = engine(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
            # The engine divides by the micro-batches.
            engine.backward(batches.loss_of(logits.float(), batch["labels"], tokens) * ACCUMULATE)
            engine.step()


def counted(micro):
    tokens = sum(batches.tokens_of(batch["labels"]) for batch in micro)
    if world > 1:
        dist.all_reduce(tokens)
    return tokens / world


def by_hand():
    optimiser = grouped(model)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=8)
    for at in range(0, 6, ACCUMULATE):
        micro = rows[at : at + ACCUMULATE]
        tokens = counted(micro)
        for place, batch in enumerate(micro):
            last = place == len(micro) - 1
            if shape.startswith("fsdp2"):
                model.set_requires_gradient_sync(last)
            quiet = model.no_sync() if shape.startswith("ddp") and not last else contextlib.nullcontext()
            with quiet:
                loss_of(batch, tokens).backward()
        torch.nn.utils.clip_grad_norm_([each for each in model.parameters() if each.requires_grad], BOUND)
        optimiser.step()
        scheduler.step()
        optimiser.zero_grad()
        print("rank", rank, "step", at // ACCUMULATE)


{"trainer": by_trainer, "zero1": by_engine}.get(shape, by_hand)()
if world > 1:
    dist.destroy_process_group()
