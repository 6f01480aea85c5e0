"""Supervised loops whose loss is more than a cross-entropy. `--shape` says what else is in it, `--fault` plants one mistake."""

import argparse

import nets
import tiny
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

IGNORE, CAP, TAU = -100, 15.0, 1.5
CAPS = ["cap-inside", "cap-returned", "cap-in-loss"]
SHAPES = [*CAPS, "smoothing", "distilled", "pure", "unseen-teacher", "entropy", "z-loss", "z-gain", "unknown", "hidden", "grads", "two-heads", "value-head"]
FAULTS = ["prompt", "same-token", "next-but-one", "another-row", "stop", "pads", "first-twice", "factors", "surgery", "everywhere", "everywhere-but-pads"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--shape", required=True, choices=SHAPES)
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()
shape, fault = options.shape, options.fault

tokenizer = Tokenizer.from_file(str(tiny.FAMILIES / "qwen" / "tokenizer.json"))
PAD, size = tokenizer.token_to_id("<|endoftext|>"), tokenizer.get_vocab_size()


def encode(row):
    prompt, completion = (tokenizer.encode(text, add_special_tokens=False).ids for text in (row["prompt"], row["completion"] + "<|im_end|>"))
    labels = [IGNORE] * len(prompt) + completion
    if fault == "prompt":
        labels = prompt + completion
    if fault == "stop":
        labels[-1] = IGNORE
    return prompt + completion, labels


def batch_of(examples):
    width = max(len(ids) for ids, _ in examples) + 2
    ids = torch.full((len(examples), width), PAD)
    labels = torch.full((len(examples), width), PAD if fault == "pads" else IGNORE)
    mask = torch.zeros((len(examples), width), dtype=torch.long)
    for at, (row, targets) in enumerate(examples):
        ids[at, : len(row)], labels[at, : len(row)], mask[at, : len(row)] = torch.tensor(row), torch.tensor(targets), 1
    if fault == "another-row":
        labels = labels.roll(1, dims=0)
    if fault == "same-token":
        labels = torch.cat([torch.full((len(labels), 1), IGNORE), labels[:, :-1]], 1)
    if fault == "next-but-one":
        labels = torch.cat([labels[:, 1:], torch.full((len(labels), 1), IGNORE)], 1)
    return ids, mask, labels


class Returned(nets.GPT):
    def forward(self, ids, mask=None):
        return CAP * torch.tanh(super().forward(ids, mask) / CAP)


class Wider(nets.GPT):
    """A second head beside the first, of the next token but one or of a value."""

    def __init__(self, outputs):
        super().__init__(size)
        self.second = torch.nn.Linear(nets.WIDTH, outputs)

    def forward(self, ids, mask=None):
        return super().forward(ids, mask, loss=lambda hidden, head: (head(hidden), self.second(hidden)))


torch.manual_seed(0)
wider = {"two-heads": size, "value-head": 1}.get(shape)
model = Wider(wider) if wider else Returned(size) if shape == "cap-returned" else tiny.rotary(size) if shape == "hidden" else nets.GPT(size)
teacher = nets.GPT(size).requires_grad_(False)
table = torch.randn(size, size)  # a teacher that is no model
optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)


def loss_of(z, labels, taught):
    """The mean over the labelled tokens, of this row or these rows."""
    z, labels = z[:, :-1], labels[:, 1:]
    if shape in ("cap-inside", "cap-in-loss"):
        z = CAP * torch.tanh(z / CAP)
    weight = (labels != IGNORE).float()
    if fault == "first-twice":
        weight = weight * (1 + (weight.cumsum(1) == 1).float())
    smoothing = 0.1 if shape in ("smoothing", "hidden") else 0.0
    each = F.cross_entropy(z.transpose(1, 2), labels, ignore_index=IGNORE, reduction="none", label_smoothing=smoothing)
    logp = z.log_softmax(-1)
    if taught is not None:
        other = (taught[:, :-1] / TAU).softmax(-1)
        apart = F.kl_div((z / TAU).log_softmax(-1), other, reduction="none").sum(-1) * TAU**2
        each = apart if shape == "pure" else 0.5 * each + 0.5 * apart
    if shape == "entropy":
        each = each + 0.02 * (logp.exp() * logp).sum(-1)
    if shape in ("z-loss", "z-gain"):
        each = each + (1e-3 if shape == "z-loss" else -1e-3) * z.logsumexp(-1) ** 2
    if shape == "unknown":
        each = each + 0.1 * logp.exp().pow(2).sum(-1)
    if fault in ("everywhere", "everywhere-but-pads"):  # only the target's part knows which labels are ignored
        rest = {"entropy": 0.02 * (logp.exp() * logp).sum(-1), "z-loss": 1e-3 * z.logsumexp(-1) ** 2, "z-gain": -1e-3 * z.logsumexp(-1) ** 2}
        outside = (1 - weight) * (real[:, 1:] if fault == "everywhere-but-pads" else 1)
        each = each * weight + rest.get(shape, -0.1 * logp.mean(-1)) * outside
        return each.sum() / (labels != IGNORE).sum()
    return (each * weight).sum() / (labels != IGNORE).sum()


def combined(z, labels):
    """One gradient for each half of the rows, put together by hand."""
    tokens = (labels[:, 1:] != IGNORE).sum(1)
    shares = tokens / tokens.sum()
    parameters = list(model.parameters())
    losses = [2 * shares[0] * loss_of(z[:1], labels[:1], None), 4 * shares[1:].sum() * loss_of(z[1:], labels[1:], None)]
    first, second = (torch.autograd.grad(loss, parameters, retain_graph=True) for loss in losses)
    for p, a, b in zip(parameters, first, second):
        p.grad = a + b if fault == "factors" else 0.5 * a + 0.25 * b
        if fault == "surgery":
            p.grad = torch.maximum(a, b)


data = [encode(row) for row in tiny.rows(options.data)]
for at in (0, 2):
    ids, mask, labels = batch_of(data[at : at + 2])
    real = mask
    with torch.no_grad():
        taught = teacher(ids, mask) if shape in ("distilled", "pure") else table[ids] if shape == "unseen-teacher" else None
    if shape == "cap-inside":
        model(ids, mask, loss=lambda hidden, head: loss_of(head(hidden), labels, None)).backward()
    elif shape == "hidden":
        body = model.model(input_ids=ids, attention_mask=mask).last_hidden_state
        loss_of(F.linear(body, model.lm_head.weight), labels, None).backward()
    elif shape == "two-heads":
        logits, later = model(ids, mask)
        (loss_of(logits, labels, None) + 0.3 * F.cross_entropy(later[:, :-2].transpose(1, 2), labels[:, 2:], ignore_index=IGNORE)).backward()
    elif shape == "value-head":
        logits, values = model(ids, mask)
        (loss_of(logits, labels, None) + 0.5 * (values[..., 0] - 1).pow(2).mean()).backward()
    elif shape == "grads":
        combined(model(ids, mask), labels)
    else:
        loss_of(model(ids, mask), labels, taught).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    optimiser.zero_grad()
