"""Wrong trainers at the seams of two stages: which id pads, where a prompt ends, what a mean or a penalty counts."""

import math
import struct
from dataclasses import replace

from .. import left_padded, right_padded, stop_excluded
from ..chat import STOP_ID, chat_labels, chat_text, tokenizer
from ..data_parallel import Settings, count, penalty, surrogate
from ..objectives import like
from ..rows import pad_right, through_stop
from ..sampling import penalties_of
from . import MUTANTS

IGNORED = -100


@MUTANTS.add(
    "collate-pads-with-eos", "The collator pads with eos where pad is another id", right_padded, row="EOS-13"
)
def collate(input_ids, labels, pad_token_id):
    """`pad_token_id = tokenizer.eos_token_id` stayed from a model that had no pad token, and the attention mask is
    still `ids != pad`: with a pad token of its own, padding is attended to. Fix: one pad id, handed to both; better, a
    mask that is made from lengths."""
    ids, _ = pad_right(input_ids, STOP_ID)
    return {
        "input_ids": ids,
        "attention_mask": [[int(id != pad_token_id) for id in row] for row in ids],
        "labels": pad_right(labels, IGNORED)[0],
    }


@MUTANTS.add(
    "mask-pads-with-eos", "Rows are padded with eos, and masked by pad", right_padded, "mask", row="EOS-13"
)
def mask_padded_with_eos(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """The batcher of the rollout worker pads with eos, the trainer's masks are `ids != pad`. They agree while pad is
    eos, and with any other tokenizer all padding is real. Fix: send lengths along."""
    completion_ids = [through_stop(ids, eos_token_ids) for ids in completion_ids]
    rows = [prompt + completion for prompt, completion in zip(prompt_ids, completion_ids)]
    input_ids, _ = pad_right(rows, eos_token_ids[0])
    real = [[int(id != pad_token_id) for id in row] for row in input_ids]
    return {
        "input_ids": input_ids,
        "attention_mask": real,
        "completion_mask": [
            [int(on and t >= len(prompt)) for t, on in enumerate(row)][1:]
            for row, prompt in zip(real, prompt_ids)
        ],
    }


@MUTANTS.add("kl-mean-with-left-pads", "Left padding is in the reported KL", stop_excluded, row="KL-13")
def kl(logprobs, ref_logprobs, completion_mask):
    """Numbers of the whole row up to its last trained token are summed: prompts and the padding before them, where
    each model says what it likes. The logged KL goes below zero. Fix: sum under the mask."""
    right = stop_excluded.kl(logprobs, ref_logprobs, completion_mask)
    total = 0.0
    for p, q, mask in zip(logprobs, ref_logprobs, completion_mask):
        end = max((t + 1 for t, on in enumerate(mask) if on), default=0)
        total += sum(p[:end]) - sum(q[:end])
    return dict(right, mean_kl=total / max(count(completion_mask), 1))


@MUTANTS.add(
    "kl-logged-over-all-columns",
    "The reported KL is a mean of log-ratios, padding included",
    left_padded,
    "kl",
    row="KL-13",
)
def kl_logged(logprobs, ref_logprobs, completion_mask):
    """(logprobs - ref_logprobs).mean() for the log, k3 for the loss: what is logged under the name of the KL may be
    negative, and padding is in it. Fix: log the masked mean of the estimate that is used."""
    right = left_padded.kl(logprobs, ref_logprobs, completion_mask)
    columns = [p - q for row in zip(logprobs, ref_logprobs) for p, q in zip(*row)]
    return dict(right, mean_kl=sum(columns) / max(len(columns), 1))


def sums_of_rows(length):
    """A loss that is the mean over rows of sum(tokens) / length(mask of the row); 1 gives sums."""

    def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
        s = replace(Settings(), dual_clip=math.inf, entropy_coef=0.0)
        rows = max(len(completion_mask), 1)
        total, weights = 0.0, [[0.0] * len(row) for row in completion_mask]
        for b in (b for part in micro_batches for b in part):
            size = length(completion_mask[b]) * rows
            for t, on in enumerate(completion_mask[b]):
                if on:
                    value, slope = surrogate(logprobs[b][t], old_logprobs[b][t], advantages[b], s)
                    kl_value, kl_slope = penalty(logprobs[b][t], ref_logprobs[b][t], s)
                    total += (value + kl_value) / size
                    weights[b][t] = (slope + kl_slope) / size
        return {"loss": total, "loss_weights": weights, "trained_tokens": count(completion_mask)}

    return loss


# Right: what the next one is made of.
SUMS = like(
    "sums_of_rows",
    "loss",
    sums_of_rows(lambda mask: 1),
    {"micro_batches": True},
    loss_aggregation="seq-mean-token-sum",
    dual_clip=None,
)


wrong = sums_of_rows(lambda mask: max(sum(mask), 1))
wrong.__doc__ = (
    "loss_agg_mode=seq-mean-token-sum came to divide by the row's length in a rewrite of the masked mean: the name "
    "stayed, and long answers count no more than short ones. Fix: sum over tokens, mean over rows."
)
MUTANTS.add(
    "loss-sums-are-means", "Sums over tokens are divided by the length", SUMS, "loss", row="LOSS-04"
)(wrong)


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


def repeating(scope, change):
    """A penalties op whose repetition penalty goes over scope(real ids, generated ids) and applies
    change(logit, penalty) to each; presence and frequency are right."""

    def repeat(row, seen, generated, penalty):
        row = list(row)
        for id in scope(seen, generated):
            row[id] = change(row[id], penalty)
        return row

    return penalties_of(repeat=repeat)


def away(logit, penalty):
    """Less likely, whatever the sign."""
    return logit * penalty if logit < 0 else logit / penalty


def add(name, title, story, scope=lambda seen, generated: set(seen), change=away):
    wrong = repeating(scope, change)
    wrong.__doc__ = story
    MUTANTS.add(name, title, left_padded, "penalties", row="PEN-02")(wrong)


add(
    "repetition-without-the-prompt",
    "The repetition penalty leaves out the prompt",
    "Mended by analogy with presence and frequency, which count what was generated: repetition is defined over prompt "
    "and generation, and rollouts no longer match the server's. Fix: all real ids of the row.",
    scope=lambda seen, generated: set(generated),
)
add(
    "repetition-divides-negative-logits",
    "Negative logits are divided by the repetition penalty",
    "z / penalty for every sign: a negative logit comes nearer to 0, and what was repeated becomes more likely. "
    "Fix: multiply where z < 0.",
    change=lambda logit, penalty: logit / penalty,
)
add(
    "repetition-once-per-occurrence",
    "The repetition penalty is applied for every occurrence",
    "A loop over the ids instead of the set of them: the penalty is raised to the power of the count. "
    "Fix: each distinct id once.",
    scope=lambda seen, generated: list(seen),
)


@MUTANTS.add(
    "sft-boundary-by-the-prompt-alone",
    "Labels begin at the length of the prompt tokenised alone",
    left_padded,
    row="TOK-05",
)
def tokenize(route, messages, add_generation_prompt):
    """len(tokenizer(prompt)), whose post-processing ends every text with the stop token; the row itself is tokenised as
    one text. The first token of the last answer is never trained. Fix: tokenise both parts without special tokens and
    put the ids together."""
    right = left_padded.tokenize(route, messages, add_generation_prompt)
    if route == "rl" or not messages or messages[-1]["role"] != "assistant":
        return right
    alone = len(tokenizer.encode(chat_text(messages[:-1], True)) + [STOP_ID])
    begun = len(chat_labels(messages[:-1], False))
    kept = chat_labels(messages, add_generation_prompt)
    return dict(right, labels=[IGNORED if begun <= t < alone else id for t, id in enumerate(kept)])


@MUTANTS.add(
    "rollout-tokenised-as-one-text",
    "Prompt and answer are tokenised as one text and cut by a length",
    left_padded,
    row="TOK-05",
)
def rollout(conversations, sampled_ids):
    """encode(prompt + answer), cut at len(encode(prompt)): where the answer begins with what merges with the prompt's
    line end the cut is off, and elsewhere the ids are not those that were sampled. Fix: concatenate ids."""
    prompts = [chat_text(messages, True) for messages in conversations]
    answers = []
    for prompt, ids in zip(prompts, sampled_ids):
        whole = tokenizer.encode(prompt + tokenizer.decode(ids))
        answers.append(whole[len(tokenizer.encode(prompt)) :])
    return left_padded.rollout(conversations, answers)
