"""What the scripts of this folder share: rows of prompts and completions as batches, and their loss."""

import tiny
import torch
import torch.nn.functional as F

IGNORE = -100
tokenizer = tiny.family()


def encoded(row):
    prompt = tokenizer(row["prompt"], add_special_tokens=False)["input_ids"]
    answer = tokenizer(row["completion"] + "<|im_end|>", add_special_tokens=False)["input_ids"]
    return prompt + answer, [IGNORE] * len(prompt) + answer


def batches(path, size=2):
    """One more batch than the rows fill, so that batches come again."""
    examples = [encoded(row) for row in tiny.rows(path)]
    return [batch(examples[at : at + size]) for at in range(0, len(examples), size)]


def batch(examples):
    width = max(len(ids) for ids, _ in examples)
    ids = torch.full((len(examples), width), tokenizer.pad_token_id)
    labels = torch.full((len(examples), width), IGNORE)
    mask = torch.zeros((len(examples), width), dtype=torch.long)
    for at, (row, targets) in enumerate(examples):
        ids[at, : len(row)], labels[at, : len(row)], mask[at, : len(row)] = torch.tensor(row), torch.tensor(targets), 1
    return ids, mask, labels


def count(micro):
    return sum(int((labels[:, 1:] != IGNORE).sum()) for _, _, labels in micro)


def total(logits, labels):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1).float(), labels[:, 1:].flatten(), ignore_index=IGNORE, reduction="sum")
