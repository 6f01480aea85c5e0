"""Rows of ids: ops collate, truncate and pack."""

import lossproof
from lossproof import Reject
from lossproof.adapters.llama_factory._model import collating, tokens
from lossproof.adapters.llama_factory._parts import collators
from lossproof.adapters.llama_factory._rows import given, turns_of

import torch


def batched(input_ids, labels):
    rows = [{"input_ids": ids, "attention_mask": [1] * len(ids), "labels": row} for ids, row in zip(input_ids, labels)]
    return collating(collators.SFTDataCollatorWith4DAttentionMask)(rows)


@lossproof.op
def collate(input_ids, labels, pad_token_id):
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's collator pads with %d" % tokens["pad_token_id"])
    batch = batched(input_ids, labels)
    return {name: batch[name] for name in ("input_ids", "attention_mask", "labels")}


@lossproof.op
def truncate(input_ids, labels, max_length):
    """SupervisedDatasetProcessor with cutoff_len, on turns that are encoded already."""
    rows = given(map(turns_of, input_ids, labels), count=len(labels), limit=max_length)
    return {name: [row[name] for row in rows] for name in ("input_ids", "labels", "attention_mask")}


@lossproof.op
def pack(input_ids, labels, max_length, pad_token_id):
    """PackedSupervisedDatasetProcessor with neat_packing; its attention mask counts the examples of a row."""
    if pad_token_id != tokens["pad_token_id"]:
        raise Reject("this trainer's processor pads with %d" % tokens["pad_token_id"])
    # Packing takes one off cutoff_len, which the longest example would miss.
    rows = given(map(turns_of, input_ids, labels), count=len(labels), limit=max_length + 1, neat_packing=True)
    names = {"input_ids": "input_ids", "labels": "labels", "position_ids": "position_ids", "attention_mask": "segment_ids"}
    return {name: torch.tensor([row[own] for row in rows]) for own, name in names.items()}
