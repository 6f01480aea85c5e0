"""A training loop by hand: its own model, its own loss, the `tokenizers` library. `--fault` plants one mistake."""

import argparse

import nets
import tiny
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

IGNORE = -100
CHUNK = 7
FAULTS = [
    "same-token",
    "next-but-one",
    "double-shift",
    "another-row",
    "prompt",
    "pad-is-eos",
    "all-ignored",
    "chunk",
    "mean-of-means",
    "pads-trained",
]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--model", default="gpt", choices=["gpt", "llama"])
parser.add_argument("--pad", default="right", choices=["right", "left"])
parser.add_argument("--no-positions", action="store_true", help="left padding without position_ids")
parser.add_argument("--no-mask", action="store_true", help="pads at the right may be attended")
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--steps", type=int, default=2, help="at most those of one pass over the data, if more than 2")
parser.add_argument("--chunked", action="store_true")
parser.add_argument("--compile", action="store_true")
parser.add_argument("--optimiser", default="adamw", choices=["adamw", "sgd"])
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()

tokenizer = Tokenizer.from_file(str(tiny.FAMILIES / "qwen" / "tokenizer.json"))
EOS, PAD = tokenizer.token_to_id("<|im_end|>"), tokenizer.token_to_id("<|endoftext|>")
if options.fault == "pad-is-eos":
    PAD = EOS


def encode(row):
    """Prompt and completion, or a chat of which the assistant's words are trained."""
    ids, labels = [], []

    def add(text, trained):
        piece = tokenizer.encode(text, add_special_tokens=False).ids
        ids.extend(piece)
        labels.extend(piece if trained or options.fault == "prompt" else [IGNORE] * len(piece))

    if "messages" not in row:
        add(row["prompt"], False)
        add(row["completion"] + "<|im_end|>", True)
    for message in row.get("messages", []):
        add("<|im_start|>%s\n" % message["role"], False)
        add(message["content"] + "<|im_end|>", message["role"] == "assistant")
        add("\n", False)
    return ids, labels


def batch_of(examples):
    width = max(len(ids) for ids, _ in examples)
    ids = torch.full((len(examples), width), PAD)
    labels = torch.full((len(examples), width), IGNORE)
    mask = torch.zeros((len(examples), width), dtype=torch.long)
    for at, (row, targets) in enumerate(examples):
        where = slice(0, len(row)) if options.pad == "right" else slice(width - len(row), width)
        ids[at, where], labels[at, where], mask[at, where] = torch.tensor(row), torch.tensor(targets), 1
    if options.fault == "pad-is-eos":
        labels[ids == PAD] = IGNORE
    if options.fault == "pads-trained":
        labels[mask == 0] = PAD
    if options.fault == "all-ignored":
        labels[:] = IGNORE
    if options.fault == "another-row":
        labels = labels.roll(1, dims=0)
    return ids, mask, labels


def shifted(logits, labels):
    """Logits beside the labels that they predict."""
    if options.fault == "same-token":
        return logits, labels
    if options.fault in ("next-but-one", "double-shift"):
        return logits[:, :-2], labels[:, 2:]
    return logits[:, :-1], labels[:, 1:]


def loss_of(model, ids, mask, labels):
    """The sum over the labelled tokens."""
    extra = {}
    if options.model == "gpt" and options.pad == "left" and not options.no_positions:
        extra["positions"] = (mask.cumsum(-1) - 1).clamp(min=0)
    seen = None if options.no_mask else mask
    if not options.chunked:
        logits, targets = shifted(model(ids, seen, **extra), labels)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE, reduction="sum")
    return model(ids, seen, loss=lambda hidden, head: in_chunks(hidden, head, labels), **extra)


def in_chunks(hidden, head, labels):
    """The head is applied to a few positions at a time, so that the logits of the whole batch never exist."""
    hidden, targets = (part.flatten(0, 1) for part in shifted(hidden, labels))
    total = 0.0
    for start in range(0, len(targets), CHUNK):
        part = targets[start : start + CHUNK]
        if options.fault == "chunk" and start > 0:
            part = targets[start - 1 : start - 1 + len(part)]
        logits = head(hidden[start : start + CHUNK])
        total = total + F.cross_entropy(logits, part, ignore_index=IGNORE, reduction="sum")
    return total


torch.manual_seed(0)
size = tokenizer.get_vocab_size()
model = nets.GPT(size) if options.model == "gpt" else nets.Llama(size)
if options.compile:
    model = torch.compile(model, backend="eager")
make = torch.optim.AdamW if options.optimiser == "adamw" else torch.optim.SGD
optimiser = make(model.parameters(), lr=1e-3)

data = [encode(row) for row in tiny.rows(options.data)]
batches = [batch_of(data[at : at + 2]) for at in range(0, len(data), 2)]
for step in range(min(options.steps, max(2, len(batches) // options.accumulate))):
    micro = [batches[(step * options.accumulate + each) % len(batches)] for each in range(options.accumulate)]
    tokens = sum(int((labels[:, 1:] != IGNORE).sum()) for _, _, labels in micro)
    for ids, mask, labels in micro:
        loss = loss_of(model, ids, mask, labels)
        if options.fault == "mean-of-means":
            loss = loss / int((labels[:, 1:] != IGNORE).sum()) / options.accumulate
        else:
            loss = loss / max(tokens, 1)
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
