"""Rows of its data sets: of conversations, and of ids that are given."""

import copy

from lossproof import Reject
from lossproof.adapters.llama_factory._model import UNLIMITED, arguments, template, tokenizer
from lossproof.adapters.llama_factory._parts import DatasetAttr, converter, processor_of
from lossproof.adapters.llama_factory._settings import FORMAT
from lossproof.testing import spy

# What dataset_info.json says of such data; a ranking has the better and the worse answer beside the messages.
ATTRIBUTES = {
    "formatting": FORMAT,
    "messages": "messages",
    "chosen": "chosen",
    "rejected": "rejected",
    "role_tag": "role",
    "content_tag": "content",
    "user_tag": "user",
    "assistant_tag": "assistant",
    "observation_tag": "tool",
    "system_tag": "system",
}
NEITHER = {"mask_history": False, "train_on_prompt": False}
SAID = {"role": "user", "content": "given"}


def columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


def converted(rows, ranking=False):
    """align_dataset of these rows, as its columns."""
    attributes = DatasetAttr("file", "given", ranking=ranking, **ATTRIBUTES)
    return columns([converter(FORMAT, attributes, arguments())(row) for row in rows])


def processed(stage, examples, data, own, generate=False):
    """The rows that the processor of this stage makes of them, one each; a Reject where it leaves one out."""
    made = processor_of(data, stage, own, tokenizer, None, do_generate=generate).preprocess_dataset(examples)
    rows = [dict(zip(made, row)) for row in zip(*made.values())]
    if not data.packing and len(rows) < len(examples["_prompt"]):
        raise Reject("LLaMA-Factory leaves out a conversation whose turns do not alternate, from a question to an answer")
    return rows


def conversing(conversations, own):
    """SupervisedDatasetProcessor's rows."""
    return processed("sft", converted([{"messages": messages} for messages in conversations]), arguments(), own)


def given(encoded, count, stage="sft", limit=UNLIMITED, method="encode_multiturn", **settings):
    """The rows that a processor makes of `count` examples whose turns are encoded already: what stands in a template's place hands
    the elements of `encoded` over, one at each call. Their labels are given, whatever LOSSPROOF_DATA says."""
    own = copy.copy(template)
    own.efficient_eos = False
    waiting = iter(encoded)
    answers = [{**SAID, "role": "assistant"}] * (2 if stage == "rm" else 1)
    nothing = {name: [None] * count for name in ("_images", "_videos", "_audios")}
    examples = {"_prompt": [[SAID]] * count, "_response": [answers] * count, "_system": [""] * count, "_tools": [""] * count}
    with spy(own, method, instead=lambda *_, **__: next(waiting)):
        return processed(stage, {**examples, **nothing}, arguments(limit, **NEITHER, **settings), own)


def turns_of(ids, labels):
    """[(prompt, answer)] of a row: each stretch of labels is an answer, with what stands before it."""
    turns = []
    for token, label in zip(ids, labels):
        trained = label != -100
        if not turns or (turns[-1][1] and not trained):
            turns.append(([], []))
        turns[-1][trained].append(token)
    return turns
