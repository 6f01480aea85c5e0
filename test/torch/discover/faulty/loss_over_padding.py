import torch


def policy_loss(logprobs, old_logprobs, advantages, mask, clip_eps=0.2):
    ratio = (logprobs - old_logprobs).exp()
    clipped = ratio.clamp(1 - clip_eps, 1 + clip_eps)
    each = -torch.min(ratio * advantages, clipped * advantages)
    return (each * mask).mean()  # by columns, not by tokens
