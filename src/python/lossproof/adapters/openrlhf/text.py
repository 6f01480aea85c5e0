"""Rows of SFTDataset: ops tokenize, sft_batch and collate."""

import lossproof
from lossproof import Reject
from lossproof.adapters.common._library import template_of
from lossproof.adapters.openrlhf._model import UNLIMITED, predicting, tokenizer, tokens
from lossproof.adapters.openrlhf._parts import SFTDataset
from lossproof.adapters.openrlhf._settings import DATA
from lossproof.adapters.openrlhf._standins import Rows, Strategy, tree
from lossproof.testing import instance

import torch


def data_set(rows):
    """SFTDataset of these rows, in the form that LOSSPROOF_DATA names."""
    keys = {"input_key": "input", "output_key": None if DATA == "multiturn" else "output"}
    args = tree(data={**keys, "apply_chat_template": True})
    return SFTDataset(
        Rows(rows), tokenizer, UNLIMITED, Strategy(args), num_processors=1, multiturn=DATA == "multiturn"
    )


def row_of(messages):
    if len(messages) < 2 or messages[-1]["role"] != "assistant":
        raise Reject("a row of SFTDataset is a prompt and, last, the assistant's message")
    if DATA == "multiturn":
        return {"input": messages}
    return {"input": messages[:-1], "output": messages[-1:]}


@lossproof.op(route=["sft"], chat_template=True)
def tokenize(messages, add_generation_prompt, chat_template=None):
    with template_of(tokenizer, chat_template):
        if add_generation_prompt:
            # Any answer: the prompt is rendered without it.
            data = kept([[*messages, {"role": "assistant", "content": "yes"}]])
            return {"input_ids": tokenizer(data.prompts[0], add_special_tokens=False)["input_ids"]}
        ids, _, mask = kept([messages])[0]
    return {"input_ids": ids[0], "labels": labels_of(ids, mask)[0]}


def kept(conversations):
    """A data set of them all."""
    data = data_set([row_of(messages) for messages in conversations])
    if len(data) < len(conversations):
        raise Reject("SFTDataset leaves out a row whose prompt or answer is empty")
    return data


@lossproof.op
def sft_batch(conversations):
    with template_of(tokenizer, None):
        data = kept(conversations)
        return padded(data, [data[at] for at in range(len(data))])


def padded(data, items):
    ids, attention, mask = data.collate_fn(items)
    return {"input_ids": ids, "attention_mask": attention, "labels": labels_of(ids, mask)}


def labels_of(ids, mask):
    """SFTTrainer reads the mask at the position that predicts a token."""
    labels = torch.full_like(ids, -100)
    labels[:, 1:] = torch.where(mask[:, :-1].bool(), ids[:, 1:], -100)
    return labels


@lossproof.op
def collate(input_ids, labels, pad_token_id):
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's collator pads with %d" % tokens["pad_token_id"])
    if any(row and row[0] != -100 for row in labels):
        raise Reject("OpenRLHF's masks stand where a token is predicted, and nothing predicts the first of a row")
    items = []
    for ids, row in zip(input_ids, labels):
        track = torch.tensor([ids])
        items.append((track, torch.ones_like(track), predicting(torch.tensor([row]))))
    return padded(instance(SFTDataset, tokenizer=tokenizer), items)
