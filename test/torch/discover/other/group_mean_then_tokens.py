def group_advantages(rewards, mask, group_ids):
    """Less the mean of the group, then normalised over tokens."""
    scores = rewards.sum(-1)
    same = (group_ids[:, None] == group_ids[None, :]).float()
    spread = (scores - same @ scores / same.sum(-1))[:, None] * mask
    mean = spread.sum() / mask.sum()
    variance = (((spread - mean) * mask) ** 2).sum() / mask.sum()
    return (spread - mean) / (variance + 1e-8).sqrt() * mask
