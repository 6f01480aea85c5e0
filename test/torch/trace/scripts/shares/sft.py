"""Supervised training by hand, with a denominator of its own choice. `--fault` plants one mistake."""

import argparse

import tiny
import torch
import torch.nn.functional as F

FAULTS = ["pads", "unscaled", "twice", "window", "no-stop", "left-out", "by-columns"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--mean", default="tokens", choices=["tokens", "rows", "batches"])
parser.add_argument("--rows", type=int, default=2, help="of a micro-batch")
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--coefficient", type=float, default=1.0)
parser.add_argument("--divide", action="store_true", help="losses are added up, and the gradients divided once, before they are clipped")
parser.add_argument("--skip", action="store_true", help="the second micro-batch is taken times 0; of a row alone nothing tells that from a row left out")
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()

tokenizer = tiny.family("qwen")
tokenizer.chat_template = tiny.GENERATION_TEMPLATE
model = tiny.rotary(len(tokenizer))
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)


def encoded(row):
    example = tiny.chat_ids(tokenizer, row["messages"])
    ids, labels = example["input_ids"], example["labels"]
    if options.fault == "no-stop":  # the text of the last answer, stripped of what the template puts behind it
        end = max(at for at, label in enumerate(labels) if label != tiny.IGNORE)
        ids, labels = ids[:end], labels[:end]
    return ids, labels


def batch_of(examples):
    width = max(len(ids) for ids, _ in examples)
    ids = torch.full((len(examples), width), tokenizer.pad_token_id)
    labels, mask = torch.full_like(ids, tiny.IGNORE), torch.zeros_like(ids)
    for at, (row, own) in enumerate(examples):
        ids[at, : len(row)], labels[at, : len(row)], mask[at, : len(row)] = torch.tensor(row), torch.tensor(own), 1
    if options.fault == "left-out":
        labels[0] = tiny.IGNORE
    return ids, mask, labels


def denominator(labels, window):
    """What the sum over the tokens of a micro-batch is divided by; `window` are all labels of the step."""
    if options.fault == "pads":
        return labels[:, 1:].numel() * options.accumulate
    if options.mean == "batches":
        return max(1, int((labels[:, 1:] != tiny.IGNORE).sum())) * options.accumulate
    if options.divide:
        return 1
    count = sum(int((each[:, 1:] != tiny.IGNORE).sum()) for each in window)
    if options.fault == "twice":
        return count * options.accumulate
    return count / options.accumulate if options.fault == "unscaled" else count


data = [encoded(row) for row in tiny.rows(options.data)]
batches = [batch_of(data[at : at + options.rows]) for at in range(0, len(data), options.rows)]
for step in range(2):
    micro = [batches[(step * options.accumulate + at) % len(batches)] for at in range(options.accumulate)]
    if options.fault == "window" and step == 1:
        micro = micro[:1]
    for at, (ids, mask, labels) in enumerate(micro):
        logits = model(input_ids=ids, attention_mask=mask).logits[:, :-1]
        losses = F.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), reduction="none").view(len(ids), -1)
        if options.mean == "rows":
            lengths = (labels[:, 1:] != tiny.IGNORE).sum(-1).clamp(min=1)
            loss = (losses.sum(-1) / lengths).mean() / options.accumulate
        else:
            whole = [own for _, _, own in micro]
            loss = losses.sum() / denominator(labels, whole)
            if options.fault == "window" and step == 1:
                loss = loss / options.accumulate
        if options.skip and at == 1 and len(ids) > 1:
            loss = loss * 0.0
        (loss * options.coefficient).backward()
    if options.divide:
        counted = [own[:, 1:].numel() if options.fault == "by-columns" else int((own[:, 1:] != tiny.IGNORE).sum()) for _, _, own in micro]
        for parameter in model.parameters():
            parameter.grad /= sum(counted)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
