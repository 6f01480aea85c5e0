"""The data-parallel trainer with other baselines: the mean over the tokens of a group (OPO), the best of its others (pass@k)."""

from .objectives import like


def weighted(rewards, weights):
    return sum(r * w for r, w in zip(rewards, weights)) / sum(weights)


def advantages_of(weights=lambda lengths, prompt_ids: lengths, same=lambda group, other: group == other):
    """Rewards less the mean, so weighted, of the rows that count as the same group."""

    def advantages(rewards, group_ids, prompt_ids, lengths):
        out = []
        for reward, group in zip(rewards, group_ids):
            rows = [row for row, other in enumerate(group_ids) if same(group, other)]
            own = [rewards[row] for row in rows]
            counts = weights(lengths, prompt_ids)
            out.append(0.0 if max(own) == min(own) else reward - weighted(own, [counts[row] for row in rows]))
        return {"advantages": out}

    return advantages


OPO = like(
    "opo",
    "advantages",
    advantages_of(),
    {},
    advantage_baseline="length-weighted",
    advantage_scaling="none",
)


def lead(own):
    """What the best has over the second."""
    best, second = sorted(own, reverse=True)[:2]
    return best - second


def best_of(gain=lead, counts=lambda reward, own: reward == max(own), same=lambda group, other: group == other):
    """The rows that count have their group's gain for an advantage, the others none."""

    def advantages(rewards, group_ids):
        out = []
        for reward, group in zip(rewards, group_ids):
            own = [r for r, other in zip(rewards, group_ids) if same(group, other)]
            out.append(gain(own) if max(own) != min(own) and counts(reward, own) else 0.0)
        return {"advantages": out}

    return advantages


PASS_AT_K = like(
    "pass-at-k",
    "advantages",
    best_of(),
    {},
    advantage_baseline="leave-one-out-max",
    advantage_scaling="none",
)
