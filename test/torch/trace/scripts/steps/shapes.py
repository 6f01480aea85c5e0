"""Loops that do unusual things with gradients and optimisers, and rightly so; `--fault` takes what makes them right away."""

import argparse
import copy

import few
import tiny
import torch

SHAPES = ["closure", "two-optimisers", "master", "in-backward", "sam", "ema", "adapters", "put-together", "flat-master"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--shape", choices=SHAPES, required=True)
parser.add_argument("--fault", action="store_true")
options = parser.parse_args()
shape = options.shape

model = tiny.rotary(len(few.tokenizer))
model.train()
data = few.batches(options.data)


class Adapted(torch.nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base_layer = base
        self.lora_A = torch.nn.Parameter(torch.randn(4, base.in_features) * 0.1)
        self.lora_B = torch.nn.Parameter(torch.zeros(base.out_features, 4))

    def forward(self, x):
        return self.base_layer(x) + x @ self.lora_A.T @ self.lora_B.T


def backward(batch, scale=1.0):
    ids, mask, labels = batch
    loss = few.total(model(ids, attention_mask=mask).logits, labels) / few.count([batch])
    (loss * scale).backward()
    return loss


if shape == "adapters":
    model.requires_grad_(options.fault)
    for layer in model.model.layers:
        layer.mlp.up_proj = Adapted(layer.mlp.up_proj)
    optimiser = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-3)
elif shape == "closure":
    optimiser = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=2)
elif shape == "two-optimisers":
    matrices = [p for p in model.parameters() if p.ndim == 2]
    others = list(model.parameters()) if options.fault else [p for p in model.parameters() if p.ndim != 2]
    pair = [torch.optim.SGD(matrices, lr=1e-2), torch.optim.AdamW(others, lr=1e-3)]
elif shape in ("master", "flat-master"):
    model.to(torch.float32 if options.fault else torch.bfloat16)
    if shape == "master":
        copies = [p.detach().clone().float() for p in model.parameters()]
    else:
        copies = [torch.cat([p.detach().float().flatten() for p in model.parameters()])]
    optimiser = torch.optim.AdamW(copies, lr=1e-2)
elif shape == "in-backward":
    each = {p: torch.optim.AdamW([p], lr=1e-3) for p in model.parameters()}

    def now(p):
        each[p].step()
        each[p].zero_grad()

    for p in model.parameters():
        p.register_post_accumulate_grad_hook(now)
else:
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
average = copy.deepcopy(model)

for step in range(4):
    batch = data[step % len(data)]
    if shape == "closure":

        def closure():
            optimiser.zero_grad()
            return backward(batch)

        optimiser.step(closure)
    elif shape == "two-optimisers":
        backward(batch)
        for one in pair:
            one.step()
        for one in pair:
            one.zero_grad()
    elif shape in ("master", "flat-master"):
        backward(batch)
        if shape == "master":
            for own, p in zip(copies, model.parameters()):
                own.grad = p.grad.float()
        else:
            copies[0].grad = torch.cat([p.grad.float().flatten() for p in model.parameters()])
        optimiser.step()
        start = 0
        for at, p in enumerate(model.parameters() if not options.fault else []):
            flat = copies[at].flatten() if shape == "master" else copies[0][start : start + p.numel()]
            p.data.copy_(flat.view_as(p))
            start += p.numel()
        model.zero_grad()
    elif shape == "in-backward":
        backward(batch)
    elif shape == "sam":
        backward(batch)
        moved = [(p, p.grad.clone() * 0.01) for p in model.parameters()]
        optimiser.zero_grad()
        for p, by in moved:
            p.data.add_(by)
        backward(batch)
        for p, by in moved:
            p.data.sub_(by)
        optimiser.step()
        optimiser.zero_grad()
    elif shape == "put-together":  # Each task's gradient by itself, then a sum of what is left of both.
        parts = []
        for other in data:
            optimiser.zero_grad()
            backward(other)
            parts.append([p.grad.clone() for p in model.parameters()])
        if not options.fault:
            for p, *own in zip(model.parameters(), *parts):
                p.grad = sum(own)
        optimiser.step()
        optimiser.zero_grad()
    else:
        backward(batch)
        optimiser.step()
        optimiser.zero_grad()
        for own, p in zip(average.parameters(), model.parameters()):
            own.data.lerp_(p.data, 0.1)
    print("step", step)
