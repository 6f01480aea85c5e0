"""Losses whose logged number is not the one that is descended, or that know no behaviour policy; and denominators that
are one off. Nothing is declared: no formula knows them."""

import math
from types import SimpleNamespace

from lossproof.examples import left_padded
from lossproof.examples.left_padded import count, k3, token_loss
from lossproof.examples.losses.preference_loss import dpo_loss

from ..in_place import written
from ..registry import MUTANTS

SILENT = SimpleNamespace(
    __name__="%s.silent" % __name__,
    OPS=left_padded.OPS,
    DECLARED={key: value for key, value in left_padded.DECLARED.items() if key != "semantics"},
)
ENTROPY_COEF = 0.02
KL_COEF = 0.05


def descending(name, title, story, token, extra=0, **rows):
    """A loss op: the mean of `token(logprob, old, ref, advantage)`, value and slope, over so many tokens more than there are."""

    def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
        size = max(count(completion_mask), 1) + extra
        total, weights = 0.0, [[0.0] * len(row) for row in completion_mask]
        for b, row in enumerate(completion_mask):
            for t, on in enumerate(row):
                if on:
                    value, slope = token(logprobs[b][t], old_logprobs[b][t], ref_logprobs[b][t], advantages[b])
                    total += value / size
                    weights[b][t] = slope / size
        return {"loss": total, "loss_weights": weights, "trained_tokens": count(completion_mask)}

    loss.__doc__ = story
    MUTANTS.add(name, title, SILENT, "loss", **rows)(loss)


def entropy_pulled_down(logprob, old, ref, advantage):
    """-p log p of the token stands for its entropy."""
    value, slope = token_loss(logprob, old, ref, advantage)
    p = math.exp(logprob)
    return value + ENTROPY_COEF * p * logprob, slope - 2 * ENTROPY_COEF * p * (logprob + 1)


descending(
    "entropy-pulled-down-in-the-gradient",
    "The entropy bonus has the wrong sign in the gradient, and twice its size",
    "The gradients of the three terms are taken apart and added by hand, loss - coef * H in the log and + 2 * coef * dH "
    "in the sum: the trainer that fights the collapse of the entropy brings it about. Fix: one backward of the logged loss.",
    entropy_pulled_down,
    row="PPO-07",
)


def kl_pulls_twice(logprob, old, ref, advantage):
    value, slope = token_loss(logprob, old, ref, advantage)
    return value + KL_COEF * k3(logprob, ref), slope + 2 * KL_COEF * (1 - math.exp(ref - logprob))


descending(
    "kl-pulls-twice-as-hard-as-logged",
    "The KL's weight in the gradient is twice the logged one",
    "The KL is in the loss that is differentiated, and its gradient is added once more. Fix: one backward of the logged "
    "loss.",
    kl_pulls_twice,
    row="KL-10",
)


def without_ratio(logprob, old, ref, advantage):
    return -advantage * logprob, -advantage


descending(
    "behaviour-policy-is-not-read",
    "The loss takes several steps on one batch and has no ratio",
    "old_logprobs are computed, stored, handed over, and the loss is -A log p: the second epoch follows a policy that is "
    "gone. Fix: the ratio, or one step a batch.",
    without_ratio,
    rows=("PPO-03",),
)
descending(
    "loss-over-one-token-more",
    "The loss divides by the trained tokens plus one",
    "mask.sum() + 1 keeps a batch without tokens from dividing by zero, and shrinks every step: the short ones most. Fix: "
    "clamp(min=1).",
    token_loss,
    extra=1,
    rows=("LOSS-11",),
)


def sft_over_one_more(input_ids, labels, logits, micro_batches, shards=1):
    """labels.ne(-100).sum() + 1: small batches train less. Fix: clamp(min=1)."""
    right = left_padded.sft_loss(input_ids, labels, logits, micro_batches, shards)
    tokens = right["trained_tokens"]
    scale = tokens / (tokens + 1)
    weights = [[scale * weight for weight in row] for row in right["loss_weights"]]
    return dict(right, loss=scale * right["loss"], loss_weights=weights)


MUTANTS.add(
    "sft-loss-over-one-token-more", "The SFT loss divides by its tokens plus one", SILENT, "sft_loss", rows=("LOSS-03",)
)(sft_over_one_more)


def pairs_over_one_fewer(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """sum / (n - 1), from a variance that stood there before. Fix: mean()."""
    right = dpo_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs)
    losses = right["losses"]
    return dict(right, loss=sum(losses) / max(len(losses) - 1, 1))


MUTANTS.add(
    "preference-loss-over-one-pair-fewer",
    "The loss on pairs divides by their number less one",
    SILENT,
    "preference_loss",
    rows=("LOSS-13",),
)(pairs_over_one_fewer)


def ratio_in_place(args):
    for row, old in zip(args["logprobs"], args["old_logprobs"]):
        row[:] = [p - o for p, o in zip(row, old)]


written(
    "loss",
    "log-ratio-in-place",
    "The log-ratio is computed in the tensor of the log-probabilities",
    "logprobs.sub_(old_logprobs): the metrics behind it read log-ratios as log-probabilities. Fix: logprobs - old_logprobs.",
    ratio_in_place,
    rows=("LP-14",),
)


def labels_in_place(args):
    for row in args["labels"]:
        row[:] = row[1:] + [-100]


written(
    "sft_loss",
    "labels-shifted-in-place",
    "The labels are shifted in the batch itself",
    "labels[:, :-1] = labels[:, 1:]: what counts its tokens afterwards, or shifts once more, has other labels. Fix: a copy.",
    labels_in_place,
    rows=("LP-03",),
)


def rewards_in_place(args):
    for row, ref in zip(args["chosen_logprobs"], args["ref_chosen_logprobs"]):
        row[:] = [p - q for p, q in zip(row, ref)]


written(
    "preference_loss",
    "log-ratios-of-pairs-in-place",
    "The reference is subtracted from the policy's log-probabilities in place",
    "chosen_logps -= ref_chosen_logps: the supervised term behind it is that of the log-ratios. Fix: a new tensor.",
    rewards_in_place,
    rows=("LOSS-13",),
)
