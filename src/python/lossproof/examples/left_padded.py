"""A GRPO and SFT trainer that pads prompts on the left: rows are [left pad | prompt | completion | right pad].

Per-token arrays cover the completion block only, index t speaks of token t. k3 in the loss, sample standard
deviation, token-mean over the whole batch. Padding is the stop token, so nothing may be read off the pad's id.
"""

import math

import lossproof

from . import common
from .lists import beside, log_softmax, pad_left, pad_right, shard_spans, through_stop
from .models import checkpoints
from .pipelines import replay
from .rollouts.ends import cut_off, with_logprobs
from .rollouts.penalties import penalties
from .scores import entropies, full_kls
from .scores.toy_model import score_packed, score_rows
from .text.chat import EOS_IDS, FOLDER, STOP_ID, chat_ids, chat_labels, chat_text, tokens

PAD_ID = STOP_ID
IGNORED = -100
KL_COEF = 0.05
CLIP_LOW = CLIP_HIGH = 0.2
EPSILON = 1e-4


def render(messages, add_generation_prompt):
    """Both routes write a conversation down in the same way: there is only one function to do it."""
    return {"text": chat_text(messages, add_generation_prompt)}


def tokenize(route, messages, add_generation_prompt):
    answer = {"input_ids": chat_ids(messages, add_generation_prompt)}
    if route == "sft":
        answer["labels"] = chat_labels(messages, add_generation_prompt)
    return answer


def collate(input_ids, labels, pad_token_id):
    """SFT rows are padded on the right. What is padding is known from where it was put, not from its id."""
    ids, attention_mask = pad_right(input_ids, pad_token_id)
    padded_labels, _ = pad_right(labels, IGNORED)
    return {"input_ids": ids, "attention_mask": attention_mask, "labels": padded_labels}


def extract(
    padding_side, prompt_ids, input_ids, sequences, sampled_ids, eos_token_ids, sampling_logprobs=None
):
    """Completions out of what generation returned. Generation continues at one column for all left-padded rows;
    in flush-left sequences each row begins where its prompt ends. A row without a stop token ran to the limit,
    which is as many tokens behind its start as were sampled at most: what comes then is padding."""
    completions = []
    for prompt, padded, row, sampled in zip(prompt_ids, input_ids, sequences, sampled_ids):
        start = len(padded) if padding_side == "left" else len(prompt)
        completions.append(through_stop(row[start : start + len(sampled)], eos_token_ids))
    return with_logprobs(completions, sampling_logprobs)


def mask(sequences, attention_mask, prompt_width, eos_token_ids):
    """1 on the completion through its first stop token, in the completion block (B, C)."""
    return {
        "completion_mask": [
            completion_mask(row[prompt_width:], real[prompt_width:], eos_token_ids)
            for row, real in zip(sequences, attention_mask)
        ],
        "truncated": [cut_off(row[prompt_width:], eos_token_ids) for row in sequences],
    }


def completion_mask(ids, real, eos_token_ids):
    out, stopped = [], False
    for id, is_real in zip(ids, real):
        out.append(1 if is_real and not stopped else 0)
        stopped = stopped or bool(is_real and id in eos_token_ids)
    return out


def rollout(conversations, sampled_ids):
    """The scoring batch is built from the very ids that generation was given and returned: no text in between."""
    prompt_ids = [chat_ids(messages, True) for messages in conversations]
    prompts, prompt_real = pad_left(prompt_ids, PAD_ID)
    completions, completion_real = pad_right(sampled_ids, PAD_ID)
    return {
        "prompt_ids": prompt_ids,
        "input_ids": beside(prompts, completions),
        "attention_mask": beside(prompt_real, completion_real),
        "completion_mask": [completion_mask(*row, EOS_IDS) for row in zip(completions, completion_real)],
    }


def logprobs(input_ids, logits, prompt_width, temperature, shards=1):
    """(B, C): log p of token t under the logits at t - 1, at the temperature it was sampled with. Each shard computes
    the tokens that its columns predict; rows are shifted before they are split."""
    out = []
    for ids, rows in zip(input_ids, logits):
        row = [0.0]  # nothing predicts the first token
        for start, end in shard_spans(len(ids), shards):
            row += [
                log_softmax([z / temperature for z in predicted], id)
                for predicted, id in zip(rows[start:end], ids[start + 1 : end + 1])
            ]
        out.append(row[prompt_width:])
    return {"logprobs": out}


def score(prompt_ids, completion_ids, packed=False):
    """The model's own log-probabilities of the completions, computed in one left-padded batch, or all in one row."""
    if packed:
        rows = score_packed([p + c for p, c in zip(prompt_ids, completion_ids)])
        return {"logprobs": [row[len(p) :] for row, p in zip(rows, prompt_ids)]}
    prompts, prompt_real = pad_left(prompt_ids, PAD_ID)
    completions, completion_real = pad_right(completion_ids, PAD_ID)
    rows = score_rows(beside(prompts, completions), beside(prompt_real, completion_real))
    width = len(prompts[0]) if prompts else 0
    return {"logprobs": [row[width : width + len(ids)] for row, ids in zip(rows, completion_ids)]}


def k3(logprob, ref_logprob):
    """exp(d) - d - 1 with d = ref - logprob: unbiased for KL(policy || reference), never negative (Schulman)."""
    d = ref_logprob - logprob
    return math.exp(d) - d - 1


def kl(logprobs, ref_logprobs, completion_mask):
    """k3 on completion tokens, 0 elsewhere; whatever stands under a 0 of the mask is not even read."""
    rows = [
        [k3(p, q) if on else 0.0 for p, q, on in zip(*row)]
        for row in zip(logprobs, ref_logprobs, completion_mask)
    ]
    return {"kl": rows, "mean_kl": sum(map(sum, rows)) / max(count(completion_mask), 1)}


def advantages(rewards, group_ids):
    """(reward - group mean) / (sample standard deviation + EPSILON); 0 where a group's rewards are all equal."""
    return {"advantages": [advantage(r, members(rewards, group_ids, g)) for r, g in zip(rewards, group_ids)]}


def members(rewards, group_ids, group):
    return [reward for reward, g in zip(rewards, group_ids) if g == group]


def advantage(reward, group):
    if max(group) == min(group):
        return 0.0
    mean = sum(group) / len(group)
    std = math.sqrt(sum((r - mean) ** 2 for r in group) / (len(group) - 1))
    return (reward - mean) / (std + EPSILON)


def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """Clipped policy objective plus KL, averaged over all completion tokens of the batch. The micro-batches
    add up partial sums over the one global count, so that any split gives the same step."""
    tokens = count(completion_mask)
    total = 0.0
    weights = [[0.0] * len(row) for row in completion_mask]
    for rows in micro_batches:
        for b in rows:
            for t, on in enumerate(completion_mask[b]):
                if on:
                    value, slope = token_loss(
                        logprobs[b][t], old_logprobs[b][t], ref_logprobs[b][t], advantages[b]
                    )
                    total += value / tokens
                    weights[b][t] = slope / tokens
    return {"loss": total, "loss_weights": weights, "trained_tokens": tokens}


def token_loss(logprob, old_logprob, ref_logprob, advantage):
    """-min(r A, clip(r) A) + KL_COEF * k3 of one token, and its derivative by logprob (dr/dlogprob = r)."""
    ratio = math.exp(logprob - old_logprob)
    clipped = min(max(ratio, 1 - CLIP_LOW), 1 + CLIP_HIGH)
    if ratio * advantage <= clipped * advantage:
        value, slope = -ratio * advantage, -ratio * advantage
    else:
        value, slope = -clipped * advantage, 0.0
    d = ref_logprob - logprob
    return value + KL_COEF * k3(logprob, ref_logprob), slope + KL_COEF * (1 - math.exp(d))


def sft_loss(input_ids, labels, logits, micro_batches, shards=1):
    """Cross-entropy of label t under the logits at t - 1, averaged over all labels of the batch; (B, T) weights. Shards
    add up their sums over the one global count."""
    tokens = sum(label != IGNORED for row in labels for label in row[1:])
    total = 0.0
    weights = [[0.0] * len(row) for row in input_ids]
    for rows in micro_batches:
        for b in rows:
            for start, end in shard_spans(len(labels[b]), shards):
                for t in range(start + 1, min(end + 1, len(labels[b]))):
                    if labels[b][t] != IGNORED:
                        total -= log_softmax(logits[b][t - 1], labels[b][t]) / tokens
                        weights[b][t] = -1 / tokens
    return {"loss": total, "loss_weights": weights, "trained_tokens": tokens}


def count(completion_mask):
    return sum(map(sum, completion_mask))


OPS = {
    **common.OPS,
    **checkpoints.OPS,
    "render": (render, {"tools": True}),
    "tokenize": (tokenize, {"tools": True, "message_flag": "train"}),
    "collate": collate,
    "extract": (extract, {"padding_side": ["left", "right"]}),
    "mask": (mask, {"after_stop": "any", "unfinished": True}),
    "rollout": (rollout, {"tools": True}),
    "logprobs": (logprobs, {"temperature": True, "shards": True}),
    "score": (score, {"packed": True, "unfinished": True}),
    "kl": kl,
    "advantages": advantages,
    "loss": (loss, {"micro_batches": True}),
    "sft_loss": (sft_loss, {"micro_batches": True, "shards": True}),
    "entropy": entropies.over_completions,
    "full_kl": (full_kls.over_completions, full_kls.CAN),
    "penalties": (penalties, {"kinds": ["presence", "frequency", "repetition"]}),
    "contract": (replay.contract, {"orders": replay.ORDERS, "losses": replay.LOSSES}),
}

DECLARED = {
    "version": "0.1",
    "dtype": "float64",
    "layout": {"alignment": "token", "span": "completion"},
    "tokens": tokens(PAD_ID),
    "tokenizer": FOLDER,
    "semantics": {
        **common.SEMANTICS,
        "sft_target": "assistant",
        "flagged_roles": "assistant",
        "stop_token_in_mask": True,
        "stop_token_in_completion": True,
        "kl_estimator": "k3",
        "kl_clamp": None,
        "kl_ratio_correction": False,
        "kl_placement": "loss",
        "kl_coef": KL_COEF,
        "advantage_ddof": 1,
        "advantage_epsilon": EPSILON,
        "advantage_scaling": "group",
        "loss_aggregation": "token-mean",
        "sft_aggregation": "token-mean",
        "loss_normalization": "global",
        "clip_low": CLIP_LOW,
        "clip_high": CLIP_HIGH,
        "temperature_in_scoring": True,
    },
}

if __name__ == "__main__":
    lossproof.serve(name="left-padded", ops=OPS, **DECLARED)
