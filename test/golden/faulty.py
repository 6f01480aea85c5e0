"""The left-padded example with one fault: `python3 faulty.py NAME [honest]`. `honest` declares the fault, too. Without a name
it is the example itself, under its own name."""

import sys

import lossproof
from lossproof.examples import left_padded
from lossproof.examples.lists import pad_right
from lossproof.examples.rows import packing
from lossproof.examples.text import chat

OPS = dict(left_padded.OPS)
DECLARED = dict(left_padded.DECLARED)
SEMANTICS = dict(DECLARED["semantics"])


def replace(op, function):
    right = OPS[op]
    OPS[op] = (function, right[1]) if isinstance(right, tuple) else function


def template_newline():
    """A role header ends with one line break instead of two."""
    chat.HEADER_END = "<|end_header_id|>\n"


def bos():
    """The tokenizer adds a BOS to a text that has one."""
    ids, labels = left_padded.chat_ids, left_padded.chat_labels
    left_padded.chat_ids = lambda *conversation: [chat.BOS_ID] + ids(*conversation)
    left_padded.chat_labels = lambda *conversation: [chat.IGNORED] + labels(*conversation)


def mask_shift():
    """The mask is that of the token before."""

    def mask(sequences, attention_mask, prompt_width, eos_token_ids):
        right = left_padded.mask(sequences, attention_mask, prompt_width, eos_token_ids)
        return dict(right, completion_mask=[[0] + row[:-1] for row in right["completion_mask"]])

    replace("mask", mask)


def pad_id():
    """The collator pads with 0, whatever the padding token is."""

    def collate(input_ids, labels, pad_token_id):
        return left_padded.collate(input_ids, labels, 0)

    replace("collate", collate)


def kl_kind():
    """k1 in the place of k3."""

    def kl(logprobs, ref_logprobs, completion_mask):
        rows = [[p - q if on else 0.0 for p, q, on in zip(*row)] for row in zip(logprobs, ref_logprobs, completion_mask)]
        return {"kl": rows, "mean_kl": sum(map(sum, rows)) / max(left_padded.count(completion_mask), 1)}

    replace("kl", kl)
    SEMANTICS["kl_estimator"] = "k1"


def ddof():
    """The standard deviation of a population instead of a sample's."""

    def advantages(rewards, group_ids):
        return {"advantages": [one(r, left_padded.members(rewards, group_ids, g)) for r, g in zip(rewards, group_ids)]}

    def one(reward, group):
        mean = sum(group) / len(group)
        std = (sum((r - mean) ** 2 for r in group) / len(group)) ** 0.5
        return (reward - mean) / (std + left_padded.EPSILON)

    replace("advantages", advantages)
    SEMANTICS["advantage_ddof"] = 0


def truncation_side():
    """What is too long loses its beginning instead of its end."""

    def truncate(input_ids, labels, max_length):
        rows = [row[-max_length:] for row in input_ids]
        return {
            "input_ids": rows,
            "labels": [row[-max_length:] for row in labels],
            "attention_mask": [[1] * len(row) for row in rows],
            "position_ids": [list(range(len(row))) for row in rows],
            "kept": list(range(len(rows))),
        }

    replace("truncate", truncate)
    SEMANTICS["truncation_side"] = "left"


def packing_positions():
    """Positions run on from one example of a row to the next."""

    def pack(input_ids, labels, max_length, pad_token_id):
        right = packing.pack(input_ids, labels, max_length, pad_token_id)
        positions, _ = pad_right([list(range(sum(sizes))) for sizes in right["segment_lengths"]], 0)
        return dict(right, position_ids=positions)

    replace("pack", pack)


def temperature():
    """Scored at temperature 1, whatever was sampled with."""

    def logprobs(input_ids, logits, prompt_width, temperature, shards=1):
        return left_padded.logprobs(input_ids, logits, prompt_width, 1.0, shards)

    replace("logprobs", logprobs)


def stop_set():
    """Of several stop tokens only the first one ends a completion."""

    def mask(sequences, attention_mask, prompt_width, eos_token_ids):
        return left_padded.mask(sequences, attention_mask, prompt_width, eos_token_ids[:1])

    def extract(
        padding_side, prompt_ids, input_ids, sequences, sampled_ids, eos_token_ids, sampling_logprobs=None
    ):
        return left_padded.extract(
            padding_side, prompt_ids, input_ids, sequences, sampled_ids, eos_token_ids[:1], sampling_logprobs
        )

    replace("mask", mask)
    replace("extract", extract)


name = sys.argv[1] if len(sys.argv) > 1 else ""
if name:
    globals()[name]()
if "honest" in sys.argv:
    DECLARED["semantics"] = SEMANTICS
lossproof.serve(name="left-padded", ops=OPS, **DECLARED)
