"""Estimates and losses of PPO. A mask is 1 where the policy wrote."""

from collections import defaultdict

import torch

import verl.utils.torch_functional as verl_F


class FixedKLController:
    def __init__(self, kl_coef):
        self.value = kl_coef


def compute_gae_advantage_return(token_level_rewards, values, response_mask, gamma, lam):
    """What a tool wrote is no step."""
    rewards, values = (verl_F.filled(track, response_mask) for track in (token_level_rewards, values))
    ahead = torch.zeros_like(values[:, 0])
    behind = torch.zeros_like(ahead)
    found = []
    for t in reversed(range(values.size(1))):
        on = response_mask[:, t].bool()
        advantage = rewards[:, t] + gamma * ahead - values[:, t] + gamma * lam * behind
        behind, ahead = torch.where(on, advantage, behind), torch.where(on, values[:, t], ahead)
        found.append(torch.where(on, advantage, 0.0))
    advantages = torch.stack(found[::-1], dim=1)
    return verl_F.masked_whiten(advantages, response_mask), advantages + values


def compute_grpo_outcome_advantage(token_level_rewards, response_mask, index, epsilon=1e-6):
    scores = token_level_rewards.sum(-1)
    groups = defaultdict(list)
    for row, name in enumerate(index):
        groups[name].append(row)
    for rows in groups.values():
        if len(rows) > 1:
            own = scores[rows]
            scores[rows] = (own - own.mean()) / (own.std() + epsilon)
    spread = scores[:, None] * response_mask
    return spread, spread


def compute_policy_loss(old_log_prob, log_prob, advantages, response_mask, cliprange):
    old, now, gain = (verl_F.filled(track, response_mask) for track in (old_log_prob, log_prob, advantages))
    ratio = torch.exp(now - old)
    clipped = torch.clamp(ratio, 1.0 - cliprange, 1.0 + cliprange)
    return verl_F.masked_mean(torch.max(-gain * ratio, -gain * clipped), response_mask)


def compute_value_loss(vpreds, returns, values, response_mask, cliprange_value):
    now, wanted, old = (verl_F.filled(track, response_mask) for track in (vpreds, returns, values))
    clipped = torch.max(torch.min(now, old + cliprange_value), old - cliprange_value)
    return 0.5 * verl_F.masked_mean(torch.max((now - wanted) ** 2, (clipped - wanted) ** 2), response_mask)


def kl_penalty(logprob, ref_logprob, kind):
    gap = logprob - ref_logprob
    if kind == "kl":
        return gap
    if kind == "abs":
        return gap.abs()
    if kind == "mse":
        return 0.5 * gap.square()
    return torch.exp(-gap) + gap - 1
