"""What the scripts of this folder have in common: conversations as padded batches, and the loss of one. A fault trains the
prompts or the padding, not the token that ends an answer, or labels that are one early."""

import tiny
import torch
import torch.nn.functional as F

FAULTS = ["prompt", "eos", "pads", "early"]


def options_of(parser):
    parser.add_argument("--data", required=True)
    parser.add_argument("--fault", choices=FAULTS)
    return parser.parse_args()


def tokenizer():
    found = tiny.family("qwen")
    found.chat_template = tiny.GENERATION_TEMPLATE
    return found


def encoded(path, tokenizer, fault):
    stop = 0 if fault == "eos" else 1
    return [
        tiny.chat_ids(tokenizer, row["messages"], stop=stop, whole=fault == "prompt") for row in tiny.rows(path)
    ]


def padded(examples, pad, fault=None):
    width = max(len(example["input_ids"]) for example in examples)

    def of(name, filler):
        return torch.tensor([list(each) + [filler] * (width - len(each)) for each in (e[name] for e in examples)])

    mask = torch.tensor([[int(at < len(e["input_ids"])) for at in range(width)] for e in examples])
    labels = of("labels", pad if fault == "pads" else tiny.IGNORE)
    if fault == "early":  # shifted already, for a loss that shifts
        labels = torch.cat([labels[:, 1:], torch.full_like(labels[:, :1], tiny.IGNORE)], dim=1)
    return {"input_ids": of("input_ids", pad), "attention_mask": mask, "labels": labels}


def batches(path, tokenizer, fault, size=2):
    examples = encoded(path, tokenizer, fault)
    return [padded(examples[at : at + size], tokenizer.pad_token_id, fault) for at in range(0, len(examples), size)]


def tokens_of(labels):
    return (labels[:, 1:] != tiny.IGNORE).sum()


def loss_of(logits, labels, tokens):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), reduction="sum") / tokens
