from dataclasses import dataclass

import torch


@dataclass
class Config:
    clip_eps: float = 0.3
    beta: float = 0.0


def policy_loss(logprobs, old_logprobs, advantages, mask, config: Config):
    ratio = (logprobs - old_logprobs).exp()
    gain = advantages[:, None]
    clipped = ratio.clamp(1 - config.clip_eps, 1 + config.clip_eps)
    loss = -torch.min(ratio * gain, clipped * gain)
    return (loss * mask).sum() / mask.sum().clamp(min=1)
