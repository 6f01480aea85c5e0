"""Rows of a data set as token ids and labels, and batches of them padded at the right, without transformers."""

import tiny
import torch
from tokenizers import Tokenizer

IGNORE = -100


def encoded(path):
    """([(ids, labels)], size of the vocabulary): the assistant's words are trained, with the token that ends them."""
    tokenizer = Tokenizer.from_file(str(tiny.FAMILIES / "qwen" / "tokenizer.json"))
    examples = []
    for row in tiny.rows(path):
        ids, labels = [], []
        for message in row["messages"]:
            trained = message["role"] == "assistant"
            for text, label in (
                ("<|im_start|>%s\n" % message["role"], False),
                (message["content"] + "<|im_end|>", trained),
                ("\n", False),
            ):
                piece = tokenizer.encode(text, add_special_tokens=False).ids
                ids += piece
                labels += piece if label else [IGNORE] * len(piece)
        examples.append((ids, labels))
    return examples, tokenizer.get_vocab_size()


def batch(examples):
    """(ids, mask, labels), each (B, T)."""
    width = max(len(ids) for ids, _ in examples)
    ids = torch.tensor([[*ids, *[0] * (width - len(ids))] for ids, _ in examples])
    mask = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids, _ in examples])
    labels = torch.tensor([[*labels, *[IGNORE] * (width - len(labels))] for _, labels in examples])
    return ids, mask, labels
