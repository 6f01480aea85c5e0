"""LoRA written by hand, in several spellings, over a base that is frozen or left out of the optimiser. `--fault` plants one mistake."""

import argparse

import nets
import torch
import torch.nn.functional as F

SHAPES = ["factors", "layers", "last", "left-out", "all-held"]
FAULTS = ["unfrozen", "in-vain", "head-alone"]
parser = argparse.ArgumentParser()
parser.add_argument("--shape", default="factors", choices=SHAPES)
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()

VOCABULARY, RANK = 80, 4


class Factors(torch.nn.Module):
    """Two parameters beside the base, named as libraries name them."""

    def __init__(self, base):
        super().__init__()
        self.base = base
        self.lora_a = torch.nn.Parameter(0.1 * torch.randn(RANK, base.in_features))
        self.lora_b = torch.nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, x):
        return self.base(x) + x @ self.lora_a.T @ self.lora_b.T


class Layers(torch.nn.Module):
    """Two layers beside the base, under names of their own."""

    def __init__(self, base):
        super().__init__()
        self.linear = base
        self.down = torch.nn.Linear(base.in_features, RANK, bias=False)
        self.up = torch.nn.Linear(RANK, base.out_features, bias=False)
        torch.nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.linear(x) + 2 * self.up(self.down(x))


torch.manual_seed(0)
model = nets.Llama(VOCABULARY)
if options.fault == "in-vain":
    model.requires_grad = False
elif options.fault != "unfrozen" and options.shape != "left-out":
    model.requires_grad_(False)
wrap = Factors if options.shape == "factors" or options.fault else Layers
added = []
if options.fault != "head-alone":
    for block in model.layers[-1:] if options.shape == "last" else model.layers:
        block.attention.out = wrap(block.attention.out)
        added += [each for name, each in block.attention.out.named_parameters() if not name.startswith(("base", "linear"))]
else:
    model.requires_grad_(True)
    added = list(model.norm.parameters())
held = model.parameters() if options.shape == "all-held" or options.fault in ("unfrozen", "in-vain") else added
optimiser = torch.optim.AdamW(held, lr=1e-3)
for step in range(2):
    for _ in range(2):
        ids = torch.randint(0, VOCABULARY, (4, 16))
        logits = model(ids)[:, :-1]
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten()) / 2
        loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
