"""Loops that leave out batches or steps: `--way` says which, and how."""

import argparse

import nets
import tiny
import torch
from torch.utils.data import DataLoader

WAYS = ["none", "validated", "accumulated", "overflow", "overflow-before", "iterations", "filtered", "scaler", "not-stepped", "norm-too-large"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--way", required=True, choices=WAYS)
options = parser.parse_args()
way = options.way

tokenizer = tiny.family()
rows = [(tokenizer(row["text"])["input_ids"] + [at % 3 + 5] * at) for at, row in enumerate(tiny.rows(options.data) * 3)]

torch.manual_seed(0)
model = nets.GPT(len(tokenizer))
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**8) if way == "scaler" else None


def loss_of(ids, mask):
    labels = ids.masked_fill(mask == 0, -100)
    logits = model(ids, mask)
    return torch.nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), labels[:, 1:], ignore_index=-100)


for at, (ids, mask) in enumerate(DataLoader(rows, batch_size=2, collate_fn=tiny.padder(tokenizer.pad_token_id))):
    if way == "iterations" and at == 1:
        continue
    if way == "filtered" and at % 2 == 1:
        continue
    if way == "validated" and at % 2 == 1:
        model.eval()
        with torch.no_grad():
            print("validation", float(loss_of(ids, mask)))
        model.train()
        continue
    loss = loss_of(ids, mask)
    if way == "overflow-before" and at == 1:
        print("the loss is not finite, skipped")
        continue
    if scaler is not None:
        scaler.scale(loss).backward()
        if at == 1:
            next(model.parameters()).grad[0, 0] = float("inf")
        scaler.step(optimiser)
        scaler.update()
        optimiser.zero_grad()
        continue
    (loss / 2 if way == "accumulated" else loss).backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if (way == "overflow" and at == 1) or (way == "norm-too-large" and at in (1, 3)):
        print("the gradient norm is not finite, skipped:", float(norm))
        optimiser.zero_grad()
        continue
    if way == "accumulated" and at % 2 == 0:
        continue
    if way == "not-stepped" and at == 1:
        optimiser.zero_grad()
    optimiser.step()
    optimiser.zero_grad()
