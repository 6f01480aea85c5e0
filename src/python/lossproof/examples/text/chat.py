"""The Llama 3 way of writing a conversation down, and the tokenizer that belongs to it.

A plain string function instead of a Jinja template, so that the examples need nothing installed."""

from itertools import groupby
from pathlib import Path

from .bpe import Tokenizer

# Beside the Python package in the repository and in the published package alike.
FOLDER = Path(__file__).resolve().parents[4] / "tokenizers" / "families" / "llama3"

BOS = "<|begin_of_text|>"
HEADER, HEADER_END = "<|start_header_id|>", "<|end_header_id|>\n\n"
STOP = "<|eot_id|>"
# What torch's cross_entropy ignores.
IGNORED = -100

tokenizer = Tokenizer(FOLDER / "tokenizer.json")

BOS_ID = tokenizer.added[BOS]
STOP_ID = tokenizer.added[STOP]
# A turn ends with <|eot_id|>, a text with <|end_of_text|>: a model may emit either.
EOS_IDS = [tokenizer.added["<|end_of_text|>"], STOP_ID]


# A token of its own for padding; many trainers pad with STOP_ID instead, and both must work.
PAD_ID = tokenizer.added["<|finetune_right_pad_id|>"]


def tokens(pad_token_id):
    """What hello says of the ids this trainer is fixed to."""
    return {
        "vocab_size": tokenizer.vocab_size,
        "pad_token_id": pad_token_id,
        "eos_token_ids": EOS_IDS,
        "bos_token_id": BOS_ID,
    }


def header(role):
    return HEADER + role + HEADER_END


def body(message):
    return message["content"].strip() + STOP


def turns(messages):
    """[(role, what follows the header)]: a message is a turn, and the results of parallel tool calls share one."""
    out = []
    for role, group in groupby(messages, key=lambda message: message["role"]):
        if role == "tool":
            results = [message["content"].strip() for message in group]
            out.append(("ipython", "\n".join(results) + STOP))
        else:
            out += [(role, body(message)) for message in group]
    return out


def chat_text(messages, add_generation_prompt):
    """The whole conversation as one string; with the header of the next assistant turn where asked."""
    text = BOS + "".join(header(role) + said for role, said in turns(messages))
    return text + header("assistant") if add_generation_prompt else text


def chat_ids(messages, add_generation_prompt):
    """Its ids. BOS is in the text, so the tokenizer must not add another."""
    return tokenizer.encode(chat_text(messages, add_generation_prompt))


def chat_labels(messages, add_generation_prompt):
    """Labels aligned with chat_ids: the assistant's words and its stop token; IGNORED everywhere else, and where a message
    says "train": false. null says nothing.

    Header and answer are encoded apart. The ids are those of the whole text only because every seam is at a special
    token or between a line end and what is no space: nothing merges across those."""
    labels = [IGNORED] * len(tokenizer.encode(BOS))
    trains = (message.get("train") is not False for message in messages if message["role"] == "assistant")
    for role, said in turns(messages):
        if role == "assistant" and next(trains):
            labels += [IGNORED] * len(tokenizer.encode(header(role))) + tokenizer.encode(said)
        else:
            labels += [IGNORED] * len(tokenizer.encode(header(role) + said))
    if add_generation_prompt:
        labels += [IGNORED] * len(tokenizer.encode(header("assistant")))
    return labels
