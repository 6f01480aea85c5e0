"""Rows that are too long, losses on pairs, whitening and the sampler's record, in every convention of the settings."""

import math

from lossproof.examples.losses.preference_loss import log_sigmoid, pairs, per_token, ratios
from lossproof.examples.losses.reward_loss import centred, pairwise_loss
from lossproof.examples.losses.unpaired_loss import unpaired_loss
from lossproof.examples.models.checkpoints import preference_step
from lossproof.examples.rollouts import sampler

from .text import IGNORED

# Beside the standard deviation, so that equal values become zeros.
EPSILON = 1e-8


def ops(settings):
    return {
        "truncate": truncate(settings),
        "preference_loss": preference_loss(settings),
        "reward_loss": reward_loss(settings),
        "unpaired_preference_loss": unpaired_preference_loss(settings),
        "whiten": whiten(settings),
        "sampling": sampling(settings),
        **({"preference_step": preference_step(preference_loss(settings))} if settings.trains_pairs else {}),
    }


def truncate(settings):
    def cut(row, max_length):
        return row[:max_length] if settings.truncation_side == "right" else row[max(0, len(row) - max_length) :]

    def stays(labels, max_length):
        """An example that fits; one that is cut, where that leaves it a label."""
        if len(labels) <= max_length:
            return True
        return settings.overlong == "truncate" and any(label != IGNORED for label in cut(labels, max_length))

    def op(input_ids, labels, max_length):
        kept = [at for at, row in enumerate(labels) if stays(row, max_length)]
        return {
            "input_ids": [cut(input_ids[at], max_length) for at in kept],
            "labels": [cut(labels[at], max_length) for at in kept],
            "kept": kept,
        }

    return op


def preference_loss(settings):
    beta = settings.preference_beta
    share = settings.preference_label_smoothing
    kind = settings.preference_objective

    def logistic(h):
        """-log sigmoid, for labels of which a share is taken to be wrong (cDPO), or without the bias of that (robust)."""
        right, wrong = -log_sigmoid(h), -log_sigmoid(-h)
        if settings.preference_smoothing == "robust":
            return ((1 - share) * right - share * wrong) / (1 - 2 * share)
        return (1 - share) * right + share * wrong

    def of(margin):
        if kind == "ipo":
            return (margin - 1 / (2 * beta)) ** 2
        if kind == "hinge":
            return max(1 - beta * margin, 0.0)  # in this order NaN stays NaN, as in torch.relu
        return logistic(beta * (margin - settings.preference_gamma) if kind == "simpo" else beta * margin)

    def scores(logprobs, ref_logprobs):
        values = map(sum, logprobs) if kind == "simpo" else ratios(logprobs, ref_logprobs)
        return per_token(values, logprobs) if kind in ("simpo", "ipo", "dpo_norm") else list(values)

    def op(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs):
        chosen = scores(chosen_logprobs, ref_chosen_logprobs)
        rejected = scores(rejected_logprobs, ref_rejected_logprobs)
        losses = [of(c - r) for c, r in zip(chosen, rejected)]
        return pairs(losses, [beta * c for c in chosen], [beta * r for r in rejected])

    return op


def reward_loss(settings):
    """Without margins, and where no weights are said the loss alone."""

    def op(chosen_scores, rejected_scores):
        right = pairwise_loss(chosen_scores, rejected_scores)
        answer = centred(right, chosen_scores, rejected_scores, settings.reward_centering)
        return answer if settings.weights else {"loss": answer["loss"]}

    return op


def unpaired_preference_loss(settings):
    """Where no weights are said the loss alone."""
    right = unpaired_loss(
        settings.unpaired_objective, settings.unpaired_beta, settings.desirable_weight, settings.undesirable_weight
    )

    def op(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
        answer = right(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs)
        return answer if settings.weights else {"loss": answer["loss"]}

    return op


def whiten(settings):
    def op(values, completion_mask):
        counted = [v for row, mask in zip(values, completion_mask) for v, on in zip(row, mask) if on]
        mean = sum(counted) / max(len(counted), 1)
        squares = sum((v - mean) ** 2 for v in counted)
        scale = 1 / (math.sqrt(squares / max(len(counted) - settings.whiten_ddof, 1)) + EPSILON)
        shift = 0.0 if settings.whiten_mean else mean * (scale if settings.whiten_rest == "scaled" else 1.0)
        rows = [
            [(v - mean) * scale + shift if on else 0.0 for v, on in zip(*row)] for row in zip(values, completion_mask)
        ]
        return {"values": rows}

    return op


def sampling(settings):
    mode = settings.sampling_logprobs

    def op(logits, completion_ids, sampled_ids, eos_token_ids, temperature, top_k, top_p, min_new_tokens):
        processed = sampler.processed_rows(
            logits, completion_ids, eos_token_ids, temperature, top_k, top_p, min_new_tokens
        )
        bare = [sampler.log_probs(sampler.over(row, temperature if mode == "temperature" else 1)) for row in logits]
        recorded = sampler.chosen(processed if mode == "processed" else bare, sampled_ids)
        return {"logprobs": processed, "sampled_logprobs": recorded}

    return op, {"processors": ["temperature", "top_k", "top_p", "min_new_tokens"]}
