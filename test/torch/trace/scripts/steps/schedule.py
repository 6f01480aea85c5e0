"""A loop with a learning rate scheduler, and, with `--scaler`, a gradient scaler."""

import argparse

import few
import tiny
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--kind", default="warmup", choices=["warmup", "cosine", "onecycle", "linear", "step", "sequential", "chained", "nested"])
parser.add_argument("--scaler", action="store_true")
parser.add_argument("--by", default="step", choices=["step", "epoch", "batch"])
parser.add_argument("--fault", default="")
parser.add_argument("--loss", default="token", choices=["token", "batch"])
parser.add_argument("--accumulate", type=int, default=1)
options = parser.parse_args()
fault = options.fault

model = tiny.rotary(len(few.tokenizer))
model.train()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
S = torch.optim.lr_scheduler
scheduler = {
    "warmup": lambda: S.LambdaLR(optimiser, lambda step: min(1.0, step / 4)),
    "cosine": lambda: S.CosineAnnealingLR(optimiser, T_max=8),
    "onecycle": lambda: S.OneCycleLR(optimiser, max_lr=1e-3, total_steps=20),
    "linear": lambda: S.LinearLR(optimiser, 1.0, 0.0, total_iters=2),
    "step": lambda: S.StepLR(optimiser, 1),
    "sequential": lambda: S.SequentialLR(optimiser, [S.LinearLR(optimiser, 0.1, 1.0, 2), S.CosineAnnealingLR(optimiser, 99)], [2]),
    "chained": lambda: S.ChainedScheduler([S.ConstantLR(optimiser, 0.5, 1), S.LambdaLR(optimiser, lambda step: 0.9**step)]),
    "nested": lambda: S.ChainedScheduler(
        [S.SequentialLR(optimiser, [S.LinearLR(optimiser), S.PolynomialLR(optimiser, 99)], [3]), S.ConstantLR(optimiser)]
    ),
}[options.kind]()
scaler = torch.amp.GradScaler("cpu", enabled=options.scaler, init_scale=1024.0)
data = few.batches(options.data, 1)
k = options.accumulate
windows = [data[at : at + k] for at in range(0, len(data), k)]

for epoch in range(3):
    for step, micro in enumerate(windows):
        tokens = few.count(micro)
        if fault == "before":
            pass
        for batch in micro:
            ids, mask, labels = batch
            loss = few.total(model(ids, attention_mask=mask).logits, labels)
            if options.loss == "token":
                loss = loss / tokens
            else:
                loss = loss / few.count([batch]) / (1 if fault == "undivided" else k if fault == "short" else len(micro))
            if fault == "infinite":
                loss = loss * float("inf")
            scaler.scale(loss).backward()
            if options.by == "batch":
                scheduler.step()
        if fault == "before":
            scheduler.step()
        if options.scaler and fault != "clip-scaled":
            if fault != "not-unscaled":
                scaler.unscale_(optimiser)
        if options.scaler and fault != "not-unscaled":
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if fault == "not-unscaled":
            optimiser.step()
        else:
            scaler.step(optimiser)
        scaler.update()
        optimiser.zero_grad()
        if options.by == "step" and fault != "before":
            scheduler.step()
        if fault == "twice":
            scheduler.step()
        print("step", step)
    if options.by == "epoch":
        scheduler.step()
