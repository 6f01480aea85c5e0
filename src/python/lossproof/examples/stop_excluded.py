"""A Dr. GRPO trainer that does not train the stop token, and says so: rows are [pad | prompt | completion].

Per-token arrays cover the whole row, index t speaks of token t. No standard deviation, no length in the loss
(a sum over tokens divided by a constant), KL subtracted from the reward instead of added to the loss."""

import math

import lossproof

from . import common
from .lists import log_softmax, pad_left, positions
from .losses import balance_loss, preference_loss, reward_loss, unpaired_loss, value_loss
from .rollouts import sampler
from .rollouts.ends import cut_off, with_logprobs
from .rollouts.trajectory import CAN as WITH_TOOLS, LEFT_AND_ADDED_UP, without_stops
from .rows import preference
from .scores.toy_model import score_rows
from .text.chat import EOS_IDS, FOLDER, PAD_ID, chat_ids, chat_labels, chat_text, tokens

IGNORED = -100
CLIP_LOW, CLIP_HIGH = 0.2, 0.28
# What the sum over tokens is divided by, whatever the lengths of a batch (Liu et al. 2025, "Dr. GRPO").
LOSS_NORM = 64.0


def render(messages, add_generation_prompt):
    return {"text": chat_text(messages, add_generation_prompt)}


def tokenize(route, messages, add_generation_prompt):
    answer = {"input_ids": chat_ids(messages, add_generation_prompt)}
    if route == "sft":
        answer["labels"] = chat_labels(messages, add_generation_prompt)
    return answer


def collate(input_ids, labels, pad_token_id):
    """Flush right, as everything here; position ids so that the model counts tokens and not columns."""
    ids, attention_mask = pad_left(input_ids, pad_token_id)
    padded_labels, _ = pad_left(labels, IGNORED)
    return {
        "input_ids": ids,
        "attention_mask": attention_mask,
        "labels": padded_labels,
        "position_ids": [positions(row) for row in attention_mask],
    }


def before_stop(ids, eos_token_ids):
    """(the tokens before the first stop, the stop or nothing)."""
    for at, id in enumerate(ids):
        if id in eos_token_ids:
            return ids[:at], ids[at : at + 1]
    return ids, []


def extract(input_ids, sequences, eos_token_ids, sampling_logprobs=None):
    """The words that were said, without the stop token."""
    completions = []
    for prompt, row in zip(input_ids, sequences):
        said, _stop = before_stop(row[len(prompt) :], eos_token_ids)
        completions.append(said)
    return with_logprobs(completions, sampling_logprobs)


def mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """Rows built anew; the stop token stands in the row, but its mask is 0."""
    rows, marks = [], []
    for prompt, completion in zip(prompt_ids, completion_ids):
        said, stop = before_stop(completion, eos_token_ids)
        rows.append(prompt + said + stop)
        marks.append([0] * len(prompt) + [1] * len(said) + [0] * len(stop))
    input_ids, attention_mask = pad_left(rows, pad_token_id)
    completion_mask, _ = pad_left(marks, 0)
    return {
        "input_ids": input_ids,
        "attention_mask": attention_mask,
        "completion_mask": completion_mask,
        "position_ids": [positions(row) for row in attention_mask],
        "truncated": [cut_off(ids, eos_token_ids) for ids in completion_ids],
    }


def rollout(conversations, sampled_ids):
    prompt_ids = [chat_ids(messages, True) for messages in conversations]
    rows = mask(prompt_ids, sampled_ids, PAD_ID, EOS_IDS)
    del rows["truncated"], rows["position_ids"]  # `mask` shows them; the scoring batch travels without
    return dict(rows, prompt_ids=prompt_ids)


def logprobs(input_ids, logits, temperature):
    """(B, T); nothing predicts token 0, and its entry is 0."""
    out = []
    for ids, rows in zip(input_ids, logits):
        scaled = [[z / temperature for z in row] for row in rows[:-1]]
        out.append([0.0] + [log_softmax(z, id) for z, id in zip(scaled, ids[1:])])
    return {"logprobs": out}


def score(prompt_ids, completion_ids):
    input_ids, attention_mask = pad_left([p + c for p, c in zip(prompt_ids, completion_ids)], PAD_ID)
    rows = score_rows(input_ids, attention_mask)
    return {"logprobs": [row[len(row) - len(c) :] for row, c in zip(rows, completion_ids)]}


def kl(logprobs, ref_logprobs, completion_mask):
    """k1 = logprob - ref, as it is subtracted from the reward; not clamped, so it may be negative."""
    rows = [
        [p - q if on else 0.0 for p, q, on in zip(*row)]
        for row in zip(logprobs, ref_logprobs, completion_mask)
    ]
    return {"kl": rows, "mean_kl": sum(map(sum, rows)) / max(sum(map(sum, completion_mask)), 1)}


def advantages(rewards, group_ids):
    """reward - group mean, and nothing else."""
    groups = {}
    for reward, group in zip(rewards, group_ids):
        groups.setdefault(group, []).append(reward)
    return {"advantages": [centred(r, groups[g]) for r, g in zip(rewards, group_ids)]}


def centred(reward, group):
    return 0.0 if max(group) == min(group) else reward - sum(group) / len(group)


def loss(logprobs, old_logprobs, advantages, completion_mask, micro_batches):
    """Clipped objective, summed over tokens and divided by LOSS_NORM. No denominator depends on the batch."""
    total, trained = 0.0, 0
    weights = [[0.0] * len(row) for row in completion_mask]
    for b in (b for rows in micro_batches for b in rows):
        for t, on in enumerate(completion_mask[b]):
            if on:
                value, slope = token_loss(logprobs[b][t], old_logprobs[b][t], advantages[b])
                total += value / LOSS_NORM
                weights[b][t] = slope / LOSS_NORM
                trained += 1
    return {"loss": total, "loss_weights": weights, "trained_tokens": trained}


def token_loss(logprob, old_logprob, advantage):
    """(-min(r A, clip(r) A), its derivative by logprob) of one token."""
    ratio = math.exp(logprob - old_logprob)
    clipped = min(max(ratio, 1 - CLIP_LOW), 1 + CLIP_HIGH)
    if ratio * advantage <= clipped * advantage:
        return -ratio * advantage, -ratio * advantage
    return -clipped * advantage, 0.0


def sft_loss(input_ids, labels, logits, micro_batches):
    """Cross-entropy of label t under the logits at t - 1, averaged over all labels of the batch."""
    tokens = sum(label != IGNORED for row in labels for label in row[1:])
    total = 0.0
    weights = [[0.0] * len(row) for row in input_ids]
    for b in (b for rows in micro_batches for b in rows):
        for t in range(1, len(labels[b])):
            if labels[b][t] != IGNORED:
                total -= log_softmax(logits[b][t - 1], labels[b][t]) / tokens
                weights[b][t] = -1 / tokens
    return {"loss": total, "loss_weights": weights, "trained_tokens": tokens}


OPS = {
    **common.OPS,
    "render": (render, {"tools": True}),
    "tokenize": (tokenize, {"tools": True, "message_flag": "train"}),
    "collate": collate,
    "extract": extract,
    "mask": (mask, {"unfinished": True}),
    "rollout": (rollout, {"tools": True, "unfinished": True}),
    "trajectory": (without_stops, WITH_TOOLS),
    "logprobs": (logprobs, {"temperature": True}),
    "score": score,
    "kl": kl,
    "advantages": advantages,
    "loss": (loss, {"micro_batches": True}),
    "sft_loss": (sft_loss, {"micro_batches": True}),
    "preference": preference.preference_flush_right,
    "preference_loss": preference_loss.simpo_loss,
    "reward_loss": (reward_loss.centred_loss, {"margins": True}),
    "unpaired_preference_loss": unpaired_loss.apo_zero_loss,
    "balance_loss": balance_loss.deepseek_loss,
    "value_loss": (value_loss.plain_loss, {"micro_batches": True}),
    "sampling": (sampler.sampling_raw, {"processors": ["temperature", "top_k"]}),
}

DECLARED = {
    "version": "0.1",
    "dtype": "float64",
    "layout": {"alignment": "token", "span": "row"},
    "tokens": tokens(PAD_ID),
    "tokenizer": FOLDER,
    "semantics": {
        **common.SEMANTICS,
        **value_loss.PLAIN,
        **reward_loss.CENTRED,
        **unpaired_loss.APO_ZERO,
        **balance_loss.DEEPSEEK,
        **LEFT_AND_ADDED_UP,
        "preference_objective": "simpo",
        "preference_beta": preference_loss.SIMPO_BETA,
        "preference_gamma": preference_loss.SIMPO_GAMMA,
        "sampling_logprobs": "raw",
        "sft_target": "assistant",
        "flagged_roles": "assistant",
        "stop_token_in_mask": False,
        "stop_token_in_completion": False,
        "kl_estimator": "k1",
        "kl_clamp": None,
        "kl_ratio_correction": False,
        "kl_placement": "reward",
        "kl_coef": 0.0,
        "advantage_scaling": "none",
        "loss_aggregation": "token-sum-norm",
        "loss_norm": LOSS_NORM,
        "loss_normalization": "global",
        "clip_low": CLIP_LOW,
        "clip_high": CLIP_HIGH,
        "temperature_in_scoring": True,
    },
}

if __name__ == "__main__":
    lossproof.serve(name="stop-excluded", ops=OPS, **DECLARED)
