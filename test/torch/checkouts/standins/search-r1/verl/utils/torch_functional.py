"""Means over what a mask shows; what it hides is not computed with."""

import torch


def filled(values, mask):
    return torch.where(mask.bool(), values, 0.0)


def masked_mean(values, mask):
    return filled(values, mask).sum() / mask.sum().clamp(min=1)


def masked_whiten(values, mask):
    if mask.sum() < 2:
        raise ValueError("one token has no deviation")
    mean = masked_mean(values, mask)
    variance = filled((filled(values, mask) - mean) ** 2, mask).sum() / (mask.sum() - 1)
    return filled(values - mean, mask) * torch.rsqrt(variance + 1e-8)


def logprobs_from_logits(logits, labels):
    return torch.log_softmax(logits, dim=-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)


def entropy_from_logits(logits):
    return torch.distributions.Categorical(logits=logits, validate_args=False).entropy()
