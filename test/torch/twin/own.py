"""A training loop by hand for twin runs: its own model with sdpa attention, absolute positions, a DataLoader. `--fault` breaks one thing."""

import argparse
import math
import os

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader

VOCAB, WIDTH, HEADS, IGNORED, PAD = 61, 32, 4, -100, 0
FAULTS = [
    "lost-middle", "twice", "means", "positions", "leak", "neighbours", "mask-cache", "dropout-not-restored", "stale-cache",
    "restarts", "no-moments", "schedule-twice", "trains-nothing", "clip-own-norm", "summed-gather", "columns", "unseeded",
    "first-mask", "first-count", "wrong-backward", "wrong-weight-gradient", "seam", "compiled-branch", "frozen-count",
    "rounds-to-one",
]  # fmt: skip
parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, default=4)
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--steps", type=int, default=4)
parser.add_argument("--fault", choices=FAULTS)
parser.add_argument("--left", action="store_true", help="padding on the left")
parser.add_argument("--packed", action="store_true", help="a batch is one row; positions begin anew with each example")
parser.add_argument("--checkpoint", action="store_true", help="layers are computed again in the backward pass")
parser.add_argument("--autocast", action="store_true", help="to bfloat16")
parser.add_argument("--compile", help="a backend: model and loss are compiled")
parser.add_argument("--dropout", type=float, default=0.0)
parser.add_argument("--optimiser", default="adamw", choices=["adamw", "sgd"])
parser.add_argument("--clip", type=float, default=0.0)
parser.add_argument("--squared", action="store_true", help="squared ReLU in a module of its own")
parser.add_argument("--by-hand", action="store_true", help="its backward pass by hand")
parser.add_argument("--save")
parser.add_argument("--resume")
options = parser.parse_args()
fault = options.fault


class Squared(torch.autograd.Function):
    """relu(x) squared, by hand: the slope of the fault lacks its factor of 2 where x is large."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.relu().square()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        slope = 2 * x.relu()
        return gradient * (torch.where(x > 0.5, x, slope) if fault == "wrong-backward" else slope)


class Down(torch.autograd.Function):
    """x W^T, by hand: the fault leaves the last half of the rows out of the gradient of W."""

    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight.T

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        rows = len(x) // 2 if fault == "wrong-weight-gradient" else len(x)
        return gradient @ weight, torch.einsum("bto,bti->oi", gradient[:rows], x[:rows])


class Feed(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(WIDTH, 64), nn.Linear(64, WIDTH)

    def forward(self, h):
        wide = self.up(h)
        if not options.by_hand:
            return self.down(wide.relu().square())
        return Down.apply(Squared.apply(wide), self.down.weight) + self.down.bias


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.behind = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.all, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        if options.squared:
            self.feed = Feed()
        else:
            self.up, self.down = nn.Linear(WIDTH, 64), nn.Linear(64, WIDTH)

    def forward(self, h, allowed):
        q, k, v = (
            part.view(*h.shape[:2], HEADS, -1).transpose(1, 2) for part in self.all(self.before(h)).chunk(3, dim=-1)
        )
        if fault == "compiled-branch" and torch.compiler.is_compiling():  # a path of its own, with another scale
            q = q * math.sqrt(2)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        h = h + F.dropout(self.out(mixed.transpose(1, 2).flatten(2)), options.dropout, self.training)
        inner = self.behind(h)
        h = h + (self.feed(inner) if options.squared else self.down(F.gelu(self.up(inner))))
        return h + 0.1 * h.mean(0, keepdim=True) if fault == "neighbours" else h


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.places = nn.Embedding(VOCAB, WIDTH), nn.Embedding(512, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB, bias=False)
        self.cached = None

    def forward(self, input_ids, attention_mask, position_ids):
        width = input_ids.shape[1]
        causal = torch.ones(width, width, dtype=torch.bool).tril()
        segments = (position_ids == 0).cumsum(1) if options.packed and fault != "leak" else torch.zeros_like(input_ids)
        if fault == "positions":
            position_ids = torch.arange(width).expand_as(input_ids)
        allowed = causal & attention_mask.bool()[:, None, :] & (segments[:, :, None] == segments[:, None, :])
        allowed = (allowed | torch.eye(width, dtype=torch.bool))[:, None]
        if fault == "first-mask":  # of the first row, for all of them
            allowed = allowed[:1]
        if fault == "mask-cache":  # kept from the first batch that was as wide
            self.cached = self.cached or {}
            allowed = self.cached.setdefault(width, allowed)
        h = self.embed(input_ids) + self.places(position_ids)
        for block in self.blocks:
            if options.checkpoint:
                kept = fault != "dropout-not-restored"
                h = checkpoint(block, h, allowed, use_reentrant=False, preserve_rng_state=kept)
            else:
                h = block(h, allowed)
        logits = self.head(self.norm(h))
        if fault == "rounds-to-one":  # 0.9997, which bfloat16 does not have
            logits = logits + 1e-3 * torch.log(1 - torch.sigmoid(logits + 8))
        return logits


def examples(count=96):
    generator = torch.Generator().manual_seed(5)

    def draw(low, high, *shape):
        return torch.randint(low, high, shape, generator=generator)

    return [draw(2, VOCAB, int(draw(5, 13, 1))).tolist() for _ in range(count)]


def collate(rows):
    if options.packed:
        row = {
            "input_ids": [each for ids in rows for each in ids],
            "attention_mask": [1 for ids in rows for _ in ids],
            "labels": [each if at >= 2 or fault == "seam" else IGNORED for ids in rows for at, each in enumerate(ids)],
            "position_ids": [at for ids in rows for at in range(len(ids))],
        }
        return {name: torch.tensor([values]) for name, values in row.items()}
    width = max(map(len, rows))
    out = {name: [] for name in ("input_ids", "attention_mask", "labels", "position_ids")}
    for ids in rows:
        rest = width - len(ids)
        sides = {
            "input_ids": (ids, PAD),
            "attention_mask": ([1] * len(ids), 0),
            "labels": ([IGNORED] * 2 + ids[2:], IGNORED),
            "position_ids": (list(range(len(ids))), 0),
        }
        for name, (values, fill) in sides.items():
            out[name].append([fill] * rest + values if options.left else values + [fill] * rest)
    return {name: torch.tensor(rows) for name, rows in out.items()}


def loss_of(logits, labels, count, parts):
    each = F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=IGNORED, reduction="none")
    if fault == "means":
        return each.sum() / (labels[:, 1:] != IGNORED).sum() / parts
    if fault == "first-count":  # as if each row had as many tokens as the first
        return each.sum() / (labels[0, 1:] != IGNORED).sum() / len(labels) / parts
    if fault == "columns":
        return each.sum() / labels.numel() / parts
    return each.sum() / (frozen_count() if fault == "frozen-count" else count)


@torch._dynamo.assume_constant_result
def frozen_count():
    return int(count)


class Gathered(torch.autograd.Function):
    """All rows' losses in each process; its backward pass adds up what it should hand out."""

    @staticmethod
    def forward(ctx, loss):
        torch.distributed.all_reduce(loss := loss.clone())
        return loss

    @staticmethod
    def backward(ctx, gradient):
        torch.distributed.all_reduce(gradient := gradient.clone())
        return gradient


ranks = int(os.environ.get("WORLD_SIZE", 1))
rank = int(os.environ.get("RANK", 0))
if ranks > 1:
    torch.distributed.init_process_group("gloo")
if fault != "unseeded":
    torch.manual_seed(int(os.environ.get("TINY_SEED", "0")))
else:
    torch.manual_seed(int.from_bytes(os.urandom(4), "little"))
model = Model()
parameters = list(model.parameters())
if options.compile:
    model, loss_of = (torch.compile(each, backend=options.compile, dynamic=False) for each in (model, loss_of))
if options.optimiser == "adamw":
    optimiser = torch.optim.AdamW(parameters, lr=1e-2)
else:
    optimiser = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 / (1 + 0.1 * step))
begin = 0
if options.resume:
    saved = torch.load(options.resume, weights_only=True)
    model.load_state_dict(saved["model"])
    kept = saved["optimiser"]
    optimiser.load_state_dict({**kept, "state": {}} if fault == "no-moments" else kept)
    schedule.load_state_dict(saved["schedule"])
    begin = 0 if fault == "restarts" else saved["step"]
    if fault == "schedule-twice":
        for _ in range(saved["step"]):
            schedule.step()
rows = examples()
per_step = options.batch * options.accumulate
own = [row for at, row in enumerate(rows[begin * per_step * ranks :]) if at % ranks == rank]
loader = iter(DataLoader(own, batch_size=options.batch, collate_fn=collate))

for step in range(options.steps):
    batches = [next(loader) for _ in range(options.accumulate)]
    count = sum((batch["labels"][:, 1:] != IGNORED).sum() for batch in batches)
    if ranks > 1:
        torch.distributed.all_reduce(count)
    for at, batch in enumerate(batches):
        held = [None if p.grad is None else p.grad.clone() for p in parameters]
        inputs = {name: batch[name] for name in ("input_ids", "attention_mask", "position_ids")}
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.autocast):
            logits = model(**inputs).float()
        parts = len(batches) * (ranks if fault in ("means", "columns", "first-count") else 1)
        loss = loss_of(logits, batch["labels"], count, parts)
        if fault == "summed-gather" and ranks > 1:
            loss = Gathered.apply(loss)
        loss.backward()
        if fault == "twice" and at == 1:
            for parameter, before in zip(parameters, held):
                parameter.grad += parameter.grad - before
        if fault == "lost-middle" and 0 < at < len(batches) - 1:
            for parameter, before in zip(parameters, held):
                parameter.grad = before
    if options.clip and fault == "clip-own-norm":
        torch.nn.utils.clip_grad_norm_(parameters, options.clip)
    if ranks > 1:
        for parameter in parameters:
            torch.distributed.all_reduce(parameter.grad)
    if options.clip and fault != "clip-own-norm":
        torch.nn.utils.clip_grad_norm_(parameters, options.clip)
    if fault == "trains-nothing" and options.resume:
        for parameter in parameters:
            parameter.grad.zero_()
    if fault == "stale-cache" and step > 0:
        with torch.no_grad():
            for parameter, kept in zip(parameters, stale):
                parameter.grad += 0.5 * kept / options.accumulate
    stale = [parameter.grad.clone() for parameter in parameters]
    optimiser.step()
    schedule.step()
    optimiser.zero_grad()
    print("step", step, "loss", math.log(max(1e-9, loss.item())))
if options.save:
    state = {"model": model.state_dict(), "optimiser": optimiser.state_dict(), "schedule": schedule.state_dict()}
    torch.save({**state, "step": options.steps}, options.save)
