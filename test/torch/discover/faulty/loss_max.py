import torch


def policy_loss(logprobs, old_logprobs, advantages, mask, clip_eps=0.2):
    ratio = (logprobs - old_logprobs).exp()
    clipped = ratio.clamp(1 - clip_eps, 1 + clip_eps)
    each = -torch.max(ratio * advantages, clipped * advantages)  # the optimistic one
    return (each * mask).sum() / mask.sum().clamp(min=1)
