def outcome_advantages(rewards, mask):
    """Normalised over tokens: a long row counts more than a short one."""
    spread = rewards.sum(-1, keepdim=True) * mask
    mean = spread.sum() / mask.sum()
    variance = (((spread - mean) * mask) ** 2).sum() / mask.sum()
    return (spread - mean) / (variance + 1e-8).sqrt() * mask
