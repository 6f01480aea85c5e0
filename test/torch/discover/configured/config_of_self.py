from dataclasses import dataclass

import torch


@dataclass
class TrainConfig:
    clip_eps: float = 0.3


class Trainer:
    def __init__(self, model, config):
        self.model, self.config = model, config

    def policy_loss(self, logprobs, old_logprobs, advantages, mask):
        ratio = (logprobs - old_logprobs).exp()
        gain = advantages[:, None]
        clipped = ratio.clamp(1 - self.config.clip_eps, 1 + self.config.clip_eps)
        loss = -torch.min(ratio * gain, clipped * gain)
        return (loss * mask).sum() / mask.sum().clamp(min=1)
