import torch


def policy_loss(logprobs, old_logprobs, advantages, mask, config):
    ratio = (logprobs - old_logprobs).exp()
    gain = advantages[:, None]
    clipped = ratio.clamp(1 - config.clip_low, 1 + config.clip_high)
    loss = -torch.min(ratio * gain, clipped * gain)
    return (loss * mask).sum() / mask.sum().clamp(min=1)
