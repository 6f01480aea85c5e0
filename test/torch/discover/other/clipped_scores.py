def token_rewards(scores, kl, mask, kl_coef):
    """Scores beyond 5 are cut."""
    rewards = -kl_coef * kl * mask
    last = mask.size(1) - 1 - mask.flip(1).long().argmax(1)
    rewards[range(len(rewards)), last] += scores.clamp(-5, 5)
    return rewards
