"""Models whose layers have backward passes of their own; the loss is right in each. `--fault` is what such a pass does wrong."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "steps"))

import few  # noqa: E402
import nets  # noqa: E402
import tiny  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--model", default="llama", help="llama | gpt2 | hand")
parser.add_argument("--dropout", type=float, default=0.0)
parser.add_argument("--clip", type=float, default=0.0)
parser.add_argument("--fault", default="", help="norm | gather | residual | embedding | scale")
options = parser.parse_args()
fault = options.fault


class Sized(torch.autograd.Function):
    """The same in the forward pass; another size in the backward pass."""

    @staticmethod
    def forward(context, x, factor):
        context.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(context, gradient):
        return context.factor * gradient, None


class Norm(torch.autograd.Function):
    """RMSNorm whose backward pass forgets that the root mean square depends on x."""

    @staticmethod
    def forward(context, x, weight):
        size = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        context.save_for_backward(x, weight, size)
        return weight * x * size

    @staticmethod
    def backward(context, gradient):
        x, weight, size = context.saved_tensors
        inner = gradient * weight
        out = inner * size
        if fault != "norm":
            out = out - x * size**3 * (inner * x).mean(-1, keepdim=True)
        return out, (gradient * x * size).sum((0, 1))


class FusedNorm(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = nn.Parameter(weight.detach().clone())

    def forward(self, x):
        return Norm.apply(x, self.weight)


torch.manual_seed(0)
if options.model == "hand":
    model = nets.GPT(len(few.tokenizer))
    block = model.blocks[1].attention
else:
    make = tiny.rotary if options.model == "llama" else tiny.absolute
    model = make(len(few.tokenizer)) if options.model == "llama" else make(len(few.tokenizer), dropout=options.dropout)
    block = model.model.layers[1].self_attn if options.model == "llama" else model.transformer.h[1].attn
if options.model == "llama":
    for layer in model.model.layers:
        layer.input_layernorm = FusedNorm(layer.input_layernorm.weight)
model.train()
if fault == "gather":  # Its gradient is summed over two ranks that have the same.
    block.register_forward_hook(lambda _, given, out: (Sized.apply(out[0], 2.0), *out[1:]) if isinstance(out, tuple) else Sized.apply(out, 2.0))
if fault == "scale":  # An adapter's gradient without its scaling.
    block.register_forward_hook(lambda _, given, out: (Sized.apply(out[0], 0.5), *out[1:]) if isinstance(out, tuple) else Sized.apply(out, 0.5))
if fault == "embedding":  # Added up twice.
    table = model.wte if options.model == "hand" else model.get_input_embeddings()
    table.weight.register_hook(lambda gradient: 2 * gradient)
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
for ids, mask, labels in few.batches(options.data, 2) * 2:
    out = model(ids, mask) if options.model == "hand" else model(ids, attention_mask=mask).logits
    loss = few.total(out, labels) / few.count([(ids, mask, labels)])
    loss.backward()
    if options.clip:
        torch.nn.utils.clip_grad_norm_(model.parameters(), options.clip)
    optimiser.step()
    optimiser.zero_grad()
    print("loss", float(loss.detach()))
