import torch


def gae(rewards, values, mask, gamma, lam):
    advantages, last = torch.zeros_like(rewards), 0
    for t in reversed(range(rewards.size(1))):
        after = values[:, t + 1] if t + 1 < rewards.size(1) else 0  # a value of padding, too
        last = rewards[:, t] + gamma * after - values[:, t] + gamma * lam * last
        advantages[:, t] = last
    return advantages * mask, (advantages + values) * mask
