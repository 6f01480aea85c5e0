"""A loop that goes on from a checkpoint of its own, with a warm-up by steps. `--way` is what of the checkpoint it loads, and how."""

import argparse
import copy

import few
import tiny
import torch

RIGHT = ["all", "fresh", "plain-descent", "stepped-first", "constant", "by-epochs", "explicit"]
WRONG = ["scheduler-alone", "last-epoch", "stepped-forward", "optimiser-alone", "momentum"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--way", required=True, choices=RIGHT + WRONG)
options = parser.parse_args()
way = options.way

DONE = 6
data = few.batches(options.data, 1)


def made(last=-1):
    model = tiny.rotary(len(few.tokenizer))
    model.train()
    if way in ("plain-descent", "momentum"):
        optimiser = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9 if way == "momentum" else 0.0)
    else:
        optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for group in optimiser.param_groups:
        group["initial_lr"] = 1e-3
    rate = (lambda step: 1.0) if way == "constant" else (lambda step: min(1.0, (step + 1) / 20))
    return model, optimiser, torch.optim.lr_scheduler.LambdaLR(optimiser, rate, last_epoch=last)


def filled(optimiser):
    """The state that an optimiser has after DONE steps, without the steps."""
    state = copy.deepcopy(optimiser.state_dict())
    if way not in ("plain-descent", "momentum"):
        shapes = [p for group in optimiser.param_groups for p in group["params"]]
        state["state"] = {
            at: {"step": torch.tensor(float(DONE)), "exp_avg": torch.full_like(p, 1e-3), "exp_avg_sq": torch.full_like(p, 1e-4)}
            for at, p in enumerate(shapes)
        }
    return state


model, optimiser, scheduler = made(DONE - 1 if way == "last-epoch" else -1)
state = {**scheduler.state_dict(), "last_epoch": DONE}
if way in ("all", "optimiser-alone", "constant", "by-epochs"):
    optimiser.load_state_dict(filled(optimiser))
if way in ("all", "scheduler-alone", "plain-descent", "momentum"):
    scheduler.load_state_dict(state)
if way == "stepped-first":
    scheduler.step()
if way == "stepped-forward":
    for _ in range(DONE):
        scheduler.step()
for step in range(4):
    ids, mask, labels = data[step % len(data)]
    (few.total(model(ids, attention_mask=mask).logits, labels) / few.count([data[step % len(data)]])).backward()
    optimiser.step()
    optimiser.zero_grad()
    if way == "explicit":
        scheduler.step(DONE + step)
    elif way != "by-epochs":
        scheduler.step()
    print("step", step)
