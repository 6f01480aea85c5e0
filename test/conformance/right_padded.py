"""A trainer that keeps every row flush left: [prompt | completion | pad].

Per-token arrays have T - 1 columns, index t speaks of token t + 1, the one that position t predicts. k1 or k2,
population standard deviation, the mean over rows of each row's mean. It takes pad and stop ids as they come."""

import math

import lossproof
from lossproof.examples import common
from lossproof.examples.advantages import estimates
from lossproof.examples.lists import log_softmax, pad_right, through_stop
from lossproof.examples.losses import preference_loss
from lossproof.examples.rollouts import sampler
from lossproof.examples.rollouts.ends import cut_off, with_logprobs
from lossproof.examples.rollouts.trajectory import CAN as WITH_TOOLS, row_a_turn
from lossproof.examples.scores import entropies, full_kls
from lossproof.examples.scores.toy_model import score_rows
from lossproof.examples.text.chat import EOS_IDS, FOLDER, PAD_ID, chat_ids, chat_labels, chat_text

IGNORED = -100
KL_COEF = 0.02
CLIP = 0.2
EPSILON = 1e-8
# With d = ref - logprob (Schulman 2020); k1 is unbiased, k2 has the right gradient as a loss.
ESTIMATORS = {"k1": lambda d: -d, "k2": lambda d: d * d / 2}


def render(messages, add_generation_prompt):
    return {"text": chat_text(messages, add_generation_prompt)}


def tokenize(route, messages, add_generation_prompt):
    answer = {"input_ids": chat_ids(messages, add_generation_prompt)}
    if route == "sft":
        answer["labels"] = chat_labels(messages, add_generation_prompt)
    return answer


def collate(input_ids, labels, pad_token_id):
    ids, attention_mask = pad_right(input_ids, pad_token_id)
    padded_labels, _ = pad_right(labels, IGNORED)
    return {"input_ids": ids, "attention_mask": attention_mask, "labels": padded_labels}


def extract(sampled_ids, eos_token_ids, sampling_logprobs=None):
    """The sampler hands over the tokens that it emitted, so nothing has to be cut out of a sequence again."""
    completions = [through_stop(ids, eos_token_ids) for ids in sampled_ids]
    return with_logprobs(completions, sampling_logprobs)


def mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """Rows built anew from prompt and completion; the mask is built beside them, never inferred from ids."""
    completion_ids = [through_stop(ids, eos_token_ids) for ids in completion_ids]
    rows = [prompt + completion for prompt, completion in zip(prompt_ids, completion_ids)]
    marks = [[0] * len(p) + [1] * len(c) for p, c in zip(prompt_ids, completion_ids)]
    input_ids, attention_mask = pad_right(rows, pad_token_id)
    token_mask, _ = pad_right(marks, 0)
    return {
        "input_ids": input_ids,
        "attention_mask": attention_mask,
        "completion_mask": [row[1:] for row in token_mask],
        "truncated": [cut_off(ids, eos_token_ids) for ids in completion_ids],
    }


def rollout(conversations, sampled_ids):
    prompt_ids = [chat_ids(messages, True) for messages in conversations]
    rows = mask(prompt_ids, sampled_ids, PAD_ID, EOS_IDS)
    del rows["truncated"]
    return dict(rows, prompt_ids=prompt_ids)


def logprobs(input_ids, logits):
    """(B, T - 1): the logits at t say how likely token t + 1 was."""
    return {
        "logprobs": [
            [log_softmax(z, id) for z, id in zip(rows, ids[1:])] for ids, rows in zip(input_ids, logits)
        ]
    }


def score(prompt_ids, completion_ids):
    input_ids, attention_mask = pad_right([p + c for p, c in zip(prompt_ids, completion_ids)], PAD_ID)
    rows = score_rows(input_ids, attention_mask)
    return {
        "logprobs": [row[len(p) : len(p) + len(c)] for row, p, c in zip(rows, prompt_ids, completion_ids)]
    }


def kl(logprobs, ref_logprobs, completion_mask, kl_estimator="k2"):
    estimate = ESTIMATORS[kl_estimator]
    rows = [
        [estimate(q - p) if on else 0.0 for p, q, on in zip(*row)]
        for row in zip(logprobs, ref_logprobs, completion_mask)
    ]
    return {"kl": rows, "mean_kl": sum(map(sum, rows)) / max(sum(map(sum, completion_mask)), 1)}


def advantages(rewards, group_ids):
    """(reward - group mean) / (population standard deviation + EPSILON)."""
    groups = {}
    for reward, group in zip(rewards, group_ids):
        groups.setdefault(group, []).append(reward)
    return {"advantages": [advantage(r, groups[g]) for r, g in zip(rewards, group_ids)]}


def advantage(reward, group):
    if max(group) == min(group):
        return 0.0  # rounding in the mean must not be divided by EPSILON
    mean = sum(group) / len(group)
    std = math.sqrt(sum((r - mean) ** 2 for r in group) / len(group))
    return (reward - mean) / (std + EPSILON)


def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """Clipped objective plus k2, averaged over each row's tokens and then over all rows of the batch."""
    batch = len(completion_mask)
    total, trained = 0.0, 0
    weights = [[0.0] * len(row) for row in completion_mask]
    for b in (b for rows in micro_batches for b in rows):
        tokens = sum(completion_mask[b])
        for t, on in enumerate(completion_mask[b]):
            if on:
                value, slope = token_loss(
                    logprobs[b][t], old_logprobs[b][t], ref_logprobs[b][t], advantages[b]
                )
                total += value / tokens / batch
                weights[b][t] = slope / tokens / batch
                trained += 1
    return {"loss": total, "loss_weights": weights, "trained_tokens": trained}


def token_loss(logprob, old_logprob, ref_logprob, advantage):
    """(-min(r A, clip(r) A) + KL_COEF * k2, its derivative by logprob) of one token."""
    ratio = math.exp(logprob - old_logprob)
    clipped = min(max(ratio, 1 - CLIP), 1 + CLIP)
    d = ref_logprob - logprob
    penalty, penalty_slope = KL_COEF * d * d / 2, -KL_COEF * d
    if ratio * advantage <= clipped * advantage:
        return -ratio * advantage + penalty, -ratio * advantage + penalty_slope
    return -clipped * advantage + penalty, penalty_slope


def sft_loss(input_ids, labels, logits, micro_batches):
    """Cross-entropy over logits[:, :-1] and labels[:, 1:], averaged over all labels of the batch."""
    shifted = [row[1:] for row in labels]
    tokens = sum(label != IGNORED for row in shifted for label in row)
    total = 0.0
    weights = [[0.0] * len(row) for row in shifted]
    for b in (b for rows in micro_batches for b in rows):
        for t, label in enumerate(shifted[b]):
            if label != IGNORED:
                total -= log_softmax(logits[b][t], label) / tokens
                weights[b][t] = -1 / tokens
    return {"loss": total, "loss_weights": weights, "trained_tokens": tokens}


OPS = {
    **common.OPS,
    "render": (render, {"tools": True}),
    "tokenize": (tokenize, {"tools": True}),
    "collate": collate,
    "extract": (extract, {"padding_side": ["right"]}),
    "mask": (mask, {"unfinished": True}),
    "rollout": rollout,
    "trajectory": (row_a_turn, WITH_TOOLS),
    "logprobs": logprobs,
    "score": (score, {"unfinished": True}),
    "kl": (kl, {"kl_estimator": list(ESTIMATORS)}),
    "gae": estimates.whitened_gae,
    "advantages": advantages,
    "loss": (loss, {"micro_batches": True}),
    "sft_loss": (sft_loss, {"micro_batches": True}),
    "entropy": entropies.over_predictors,
    "full_kl": full_kls.over_predictors,
    "preference_loss": preference_loss.ipo_loss,
    "sampling": (sampler.sampling_processed, {"processors": ["temperature"]}),
}

DECLARED = {
    "version": "0.1",
    "dtype": "float64",
    "layout": {"alignment": "predictor", "span": "row"},
    "tokenizer": FOLDER,
    "semantics": {
        **common.SEMANTICS,
        "preference_objective": "ipo",
        "preference_beta": preference_loss.IPO_BETA,
        "sampling_logprobs": "processed",
        "sft_target": "assistant",
        "stop_token_in_mask": True,
        "stop_token_in_completion": True,
        "kl_estimator": "k2",
        "kl_clamp": None,
        "kl_ratio_correction": False,
        "kl_placement": "loss",
        "kl_coef": KL_COEF,
        "advantage_ddof": 0,
        "advantage_epsilon": EPSILON,
        "advantage_scaling": "group",
        "loss_aggregation": "seq-mean-token-mean",
        "loss_normalization": "global",
        "clip_low": CLIP,
        "clip_high": CLIP,
    },
}

if __name__ == "__main__":
    lossproof.serve(name="right-padded", ops=OPS, **DECLARED)
