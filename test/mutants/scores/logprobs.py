"""Wrong log-probabilities: shifts, temperatures, shards."""

import struct

from lossproof.examples import left_padded
from lossproof.examples.lists import log_softmax, shard_spans

from ..registry import MUTANTS


def shifted(back):
    """A logprobs op that reads the logits `back` positions before the token (right: 1)."""

    def logprobs(input_ids, logits, prompt_width, temperature):
        out = []
        for ids, rows in zip(input_ids, logits):
            columns = range(prompt_width, len(ids))
            out.append(
                [log_softmax([z / temperature for z in rows[max(t - back, 0)]], ids[t]) for t in columns]
            )
        return {"logprobs": out}

    logprobs.__doc__ = "log_softmax(logits[t - %d])[token t]; logits at t predict token t + 1." % back
    return logprobs


MUTANTS.add(
    "logprobs-not-shifted",
    "Each token is scored under the logits behind it",
    left_padded,
    "logprobs",
    row="LP-01",
)(shifted(0))
MUTANTS.add(
    "logprobs-shifted-twice", "Each token is scored two positions late", left_padded, "logprobs", row="LP-01"
)(shifted(2))


@MUTANTS.add(
    "logprobs-ignore-temperature", "Scoring ignores the sampling temperature", left_padded, row="LP-05"
)
def logprobs(input_ids, logits, prompt_width):
    """Sampled at 1.2 and scored at 1: the ratio is not 1 before the first step."""
    return left_padded.logprobs(input_ids, logits, prompt_width, 1.0)


@MUTANTS.add(
    "logprobs-multiply-temperature",
    "Scoring multiplies by the temperature",
    left_padded,
    "logprobs",
    row="LP-05",
)
def logprobs_multiplied(input_ids, logits, prompt_width, temperature):
    """Softer where it should be sharper; invisible at temperature 1."""
    return left_padded.logprobs(input_ids, logits, prompt_width, 1 / temperature)


@MUTANTS.add(
    "shards-lose-their-first-token",
    "Labels are shifted inside each shard",
    left_padded,
    "logprobs",
    row="LP-03",
)
def logprobs_in_shards(input_ids, logits, prompt_width, temperature, shards=1):
    """logits[:, :-1] against ids[:, 1:] of the shard: the token behind a shard's end is predicted by nobody, and its
    log-probability stays 0. Fix: shift before the row is split, or hand the next token over."""
    right = left_padded.logprobs(input_ids, logits, prompt_width, temperature)["logprobs"]
    width = len(input_ids[0]) if input_ids else 0
    lost = [start for start, _ in shard_spans(width, shards) if start > 0]
    return {
        "logprobs": [
            [0.0 if prompt_width + j in lost else value for j, value in enumerate(row)] for row in right
        ]
    }


def bfloat16(value):
    """The nearest number of 8 significant bits, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


@MUTANTS.add(
    "logprobs-in-bfloat16", "log_softmax is taken and kept in bfloat16", left_padded, "logprobs", row="LP-11"
)
def logprobs_rounded(input_ids, logits, prompt_width, temperature):
    """autocast covers log_softmax as well, and the result is stored as it comes: off by up to a tenth of a nat in the
    tail, which is noise in every ratio. Fix: logits.float() first, and keep float32."""
    rounded = [[[bfloat16(z) for z in row] for row in rows] for rows in logits]
    right = left_padded.logprobs(input_ids, rounded, prompt_width, temperature)["logprobs"]
    return {"logprobs": [[bfloat16(value) for value in row] for row in right]}


@MUTANTS.add("logprobs-are-logits", "The chosen logits are taken for log-probabilities", left_padded, "logprobs")
def logits_as_logprobs(input_ids, logits, prompt_width, temperature):
    """logits.gather(...) and no logsumexp subtracted: the ratio still looks like one, since much of what is missing
    cancels in a difference. Fix: subtract logsumexp over the vocabulary."""
    return {
        "logprobs": [
            [rows[t - 1][ids[t]] / temperature for t in range(prompt_width, len(ids))]
            for ids, rows in zip(input_ids, logits)
        ]
    }
