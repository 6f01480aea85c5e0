"""Losses with a backward pass of their own: the head and cross-entropy in one function, as fused kernels have them. `--fault` plants
what is lost between `backward()` and the gradient; the loss that is printed is right in each."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "steps"))

import few  # noqa: E402
import tiny  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--shape", default="sum", help="sum | mean | logits | plain | aux")
parser.add_argument("--accumulate", type=int, default=2)
parser.add_argument("--coefficient", type=float, default=1.0)
parser.add_argument("--tied", action="store_true")
parser.add_argument("--clip", type=float, default=0.0)
parser.add_argument("--scaler", action="store_true")
parser.add_argument("--fault", default="", help="ignored | twice | doubled | head-undivided | head-twice | last-chunk")
options = parser.parse_args()
fault = options.fault


class HeadAndLoss(torch.autograd.Function):
    """The sum of the cross-entropies of hidden states (N, d), without logits of all of them at once. Gradients are made in the
    forward pass, as Liger's kernel has it."""

    @staticmethod
    def forward(context, hidden, weight, labels):
        total, of_hidden, of_weight = 0.0, torch.zeros_like(hidden), torch.zeros_like(weight)
        for rows in torch.arange(len(hidden)).split(8):
            logits = (hidden[rows] @ weight.T).requires_grad_(True)
            with torch.enable_grad():
                loss = F.cross_entropy(logits, labels[rows], ignore_index=few.IGNORE, reduction="sum")
            (gradient,) = torch.autograd.grad(loss, logits)
            total, of_hidden[rows] = total + loss.detach(), gradient @ weight
            of_weight = gradient.T @ hidden[rows] + (0 if fault == "last-chunk" else of_weight)
        context.save_for_backward(of_hidden, of_weight)
        return total

    @staticmethod
    def backward(context, factor):
        of_hidden, of_weight = context.saved_tensors
        if fault == "ignored":
            factor = torch.ones_like(factor)
        if fault == "twice":
            factor = factor * factor
        return factor * of_hidden, (1.0 if fault == "head-undivided" else factor) * of_weight, None


class Doubled(torch.autograd.Function):
    """Nothing in the forward pass; its backward pass is added up once too often, as where a gather sums over ranks."""

    @staticmethod
    def forward(context, x):
        return x.view_as(x)

    @staticmethod
    def backward(context, gradient):
        return 2 * gradient


model = tiny.rotary(len(few.tokenizer), tie_word_embeddings=options.tied)
model.train()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, enabled=options.scaler)
data = few.batches(options.data, 1)


if fault == "head-twice":  # A hook that adds up over ranks, where the wrapper has done so.
    model.lm_head.weight.register_hook(lambda gradient: 2 * gradient)


def loss_of(ids, mask, labels):
    if options.shape in ("logits", "plain", "aux"):
        logits = model(ids, attention_mask=mask).logits
        if fault == "doubled":
            logits = Doubled.apply(logits)
        aux = model.model.norm.weight.square().mean() if options.shape == "aux" else 0.0
        return few.total(logits, labels) + aux
    hidden = model.model(ids, attention_mask=mask).last_hidden_state[:, :-1].flatten(0, 1)
    return HeadAndLoss.apply(hidden, model.lm_head.weight, labels[:, 1:].flatten())


for step in range(3):
    micro = [data[(step * options.accumulate + each) % len(data)] for each in range(options.accumulate)]
    for ids, mask, labels in micro:
        divisor = few.count([(ids, mask, labels)]) * options.accumulate if options.shape == "mean" else few.count(micro)
        loss = options.coefficient * loss_of(ids, mask, labels) / divisor
        scaler.scale(loss).backward()
    if options.clip:
        scaler.unscale_(optimiser)
        torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip)
    scaler.step(optimiser)
    scaler.update()
    optimiser.zero_grad()
    print("step", step, float(loss))
