"""Ops tokenize and sft_batch: rows of MultiTurnSFTDataset, and the prompt that the agent loop sends."""

import contextlib

import lossproof
from lossproof import Reject
from lossproof.adapters.common._library import quietly, template_of
from lossproof.adapters.verl._model import tokenizer
from lossproof.adapters.verl._parts import Collator, prompts, sft
from lossproof.testing import spy

import torch

UNLIMITED = 1 << 20


@contextlib.contextmanager
def rendering(chat_template=None):
    """Under this template. What the data set itself says no to is refused."""
    with template_of(tokenizer, chat_template), quietly():
        try:
            yield
        except AssertionError as refusal:
            # Its own check that messages rendered one by one make the whole; any other assertion is an error.
            if "ignore_input_ids_mismatch" not in str(refusal):
                raise
            raise Reject(str(refusal).split("\n")[0])


def data_set(conversations, pad_mode, max_length):
    frame = sft.pd.DataFrame({"messages": conversations})
    with spy(sft.pd, "read_parquet", returns=frame), spy(sft, "copy_local_path_from_hdfs", returns="rows"):
        return sft.MultiTurnSFTDataset("rows", tokenizer, {"pad_mode": pad_mode, "max_length": max_length})


def prompt_of(data):
    """The ids in front of an answer, as the data set has them: its rows so far, and the prompt that it masks."""
    return [*data[0]["input_ids"].tolist(), *data.generation_prompt]


@lossproof.op(route=["sft", "rl"], chat_template=True)
def tokenize(route, messages, add_generation_prompt, chat_template=None):
    with rendering(chat_template):
        if route == "rl":
            if not add_generation_prompt:
                raise Reject("the agent loop always adds the generation prompt")
            return {"input_ids": prompts(tokenizer).build_initial_tokens(messages)}
        data = data_set([messages], "no_padding", UNLIMITED)
        if add_generation_prompt:
            return {"input_ids": prompt_of(data)}
        row = data[0]
    return {"input_ids": row["input_ids"], "labels": labels_of(row)}


@lossproof.op
def sft_batch(conversations):
    """pad_mode right, whose rows are as wide as max_length: here, as the longest of them."""
    with rendering():
        rows = data_set(conversations, "no_padding", UNLIMITED)
        width = max(len(rows[at]["input_ids"]) for at in range(len(rows)))
        padded = data_set(conversations, "right", width)
        batch = Collator("right")([padded[at] for at in range(len(padded))])
    fields = {name: batch[name] for name in ("input_ids", "attention_mask", "position_ids")}
    return {**fields, "labels": labels_of(batch)}


def labels_of(rows):
    return torch.where(rows["loss_mask"].bool(), rows["input_ids"], -100)
