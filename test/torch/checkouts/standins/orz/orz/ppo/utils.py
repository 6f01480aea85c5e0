"""KL, rewards, advantages."""

import ray
import torch


def masked_mean(values, mask, dim=None):
    if mask is None:
        return values.mean(axis=dim)
    return torch.where(mask.bool(), values, torch.zeros(())).sum(axis=dim) / mask.sum(axis=dim)


@torch.no_grad()
def compute_approx_kl(log_probs, log_probs_base, action_mask=None, use_kl_estimator_k3=False, use_abs_kl=False):
    gap = log_probs - log_probs_base
    if action_mask is not None:
        gap = torch.where(action_mask.bool(), gap, torch.zeros(()))
    kl = gap
    if use_kl_estimator_k3:
        kl = torch.exp(-gap) + gap - 1
    return kl.abs() if use_abs_kl else kl


@ray.remote(num_cpus=1)
@torch.no_grad()
def compute_reward(
    r,
    kl_coef,
    kl,
    custom_rewards=None,
    action_mask=None,
    num_actions=None,
    reward_clip_range=None,
    use_kl_loss=False,
):
    reward = torch.zeros_like(kl) if use_kl_loss else -max(kl_coef, 0.0) * kl
    if r is not None:
        if reward_clip_range:
            r = r.clamp(*reward_clip_range)
        if action_mask is None:
            reward[:, torch.tensor(num_actions).cumsum(0) - 1] += r
        else:
            last = action_mask.size(1) - 1 - action_mask.long().flip(1).argmax(1)
            reward[torch.arange(len(r)), last] += r
    if custom_rewards is not None:
        reward = reward + (torch.cat(custom_rewards)[None] if action_mask is None else torch.stack(custom_rewards))
    return reward


@ray.remote(num_cpus=1)
@torch.no_grad()
def get_advantages_and_returns(values, rewards, action_mask, num_actions, gamma, lambd, packing=False):
    """Of each row, or of each response of a packed one, from its end on."""
    rewards = rewards.float()
    worth = torch.zeros_like(rewards) if values is None else values.float()
    if action_mask is not None:
        rewards, worth = (torch.where(action_mask, each, torch.zeros(())) for each in (rewards, worth))
    advantages = torch.zeros_like(rewards)
    ends = set((torch.tensor(num_actions).cumsum(0) - 1).tolist()) if packing else {rewards.size(1) - 1}
    for t in reversed(range(rewards.size(1))):
        behind, ahead = (0.0, 0.0) if t in ends else (worth[:, t + 1], advantages[:, t + 1])
        advantages[:, t] = rewards[:, t] + gamma * behind - worth[:, t] + gamma * lambd * ahead
    return advantages, advantages + worth


def normalize_advantages(buffer):
    every = torch.cat([item.advantages for item in buffer]).float()
    real = torch.cat([torch.ones_like(item.advantages) if item.action_mask is None else item.action_mask for item in buffer])
    mean = masked_mean(every, real)
    scale = masked_mean((every - mean) ** 2, real).clamp(min=1e-8).rsqrt()
    for item in buffer:
        item.advantages = ((item.advantages - mean) * scale).bfloat16()
    return buffer
