"""Supervised fine-tuning as people write it, not for lossproof. `FAULTY` tells padding by its id, which is that of eos."""

import os

import torch
import torch.nn.functional as F

FAULTY = os.environ.get("FAULTY") == "1"
IGNORE = -100


def encode(tokenizer, messages):
    """Ids of the whole chat, turn by turn; labels on what the assistant says and on what ends it."""
    ids, labels = [], []
    for i, message in enumerate(messages):
        before = tokenizer.apply_chat_template(messages[:i], tokenize=False) if i else ""
        after = tokenizer.apply_chat_template(messages[: i + 1], tokenize=False)
        if message["role"] != "assistant":
            piece = tokenizer(after[len(before) :], add_special_tokens=False)["input_ids"]
            ids, labels = ids + piece, labels + [IGNORE] * len(piece)
            continue
        header = tokenizer.apply_chat_template(messages[:i], tokenize=False, add_generation_prompt=True)
        head = tokenizer(header[len(before) :], add_special_tokens=False)["input_ids"]
        body = tokenizer(after[len(header) :], add_special_tokens=False)["input_ids"]
        ids, labels = ids + head + body, labels + [IGNORE] * len(head) + body
    return {"input_ids": ids, "labels": labels}


def collate(examples, pad_token_id):
    width = (max(len(e["input_ids"]) for e in examples) + 7) // 8 * 8
    input_ids = torch.full((len(examples), width), pad_token_id)
    labels = torch.full((len(examples), width), IGNORE)
    attention_mask = torch.zeros_like(input_ids)
    for row, e in enumerate(examples):
        n = len(e["input_ids"])
        input_ids[row, :n] = torch.tensor(e["input_ids"])
        labels[row, :n] = torch.tensor(e["labels"])
        attention_mask[row, :n] = 1
    if FAULTY:
        labels[input_ids == pad_token_id] = IGNORE
    return {"input_ids": input_ids, "attention_mask": attention_mask, "labels": labels}


def sft_loss(logits, labels):
    shifted = labels[:, 1:].reshape(-1)
    return F.cross_entropy(
        logits[:, :-1].float().reshape(-1, logits.size(-1)), shifted, ignore_index=IGNORE
    )
