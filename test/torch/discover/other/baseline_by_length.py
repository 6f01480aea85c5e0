import torch


def group_advantages(rewards, mask, group_ids):
    """The mean that is subtracted is one over tokens."""
    scores, lengths = rewards.sum(-1), mask.sum(-1)
    same = (group_ids[:, None] == group_ids[None, :]).float()
    baseline = (same @ (scores * lengths)) / (same @ lengths)
    return (scores - baseline)[:, None] * mask
