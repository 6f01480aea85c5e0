"""Rewards of single tokens and what is made of them. Masks may have gaps where a tool wrote."""

import math

# Added to the variance, so that equal values become zeros instead of 0/0.
EPSILON = 1e-8


def token_rewards(scores, process_rewards, kl, completion_mask, kl_coef):
    """Each trained token's process reward less its KL, and the row's score at the last of them."""
    rewards = []
    for score, process, penalty, mask in zip(scores, process_rewards, kl, completion_mask):
        row = [p - kl_coef * k if on else 0.0 for p, k, on in zip(process, penalty, mask)]
        steps = trained(mask)
        if steps:
            row[steps[-1]] += score
        rewards.append(row)
    return {"rewards": rewards}


def trained(mask):
    """Columns of the trained tokens of one row."""
    return [t for t, on in enumerate(mask) if on]


def gae(rewards, values, completion_mask, gamma, lam):
    """Generalised advantage estimation over the trained tokens alone: the output of a tool is no step."""
    rows = [gae_row(*row, gamma, lam) for row in zip(rewards, values, completion_mask)]
    return {"advantages": rows, "returns": added(rows, values, completion_mask)}


def gae_row(rewards, values, mask, gamma, lam):
    advantages = [0.0] * len(mask)
    next_advantage = next_value = 0.0
    for t in reversed(trained(mask)):
        delta = rewards[t] + gamma * next_value - values[t]
        next_advantage = advantages[t] = delta + gamma * lam * next_advantage
        next_value = values[t]
    return advantages


def added(advantages, values, completion_mask):
    """The targets of the critic."""
    return [
        [a + v if on else 0.0 for a, v, on in zip(*row)] for row in zip(advantages, values, completion_mask)
    ]


def whitened_gae(rewards, values, completion_mask, gamma, lam):
    """The same, and the advantages whitened over the batch; the critic's targets are not."""
    right = gae(rewards, values, completion_mask, gamma, lam)
    return dict(right, advantages=whiten(right["advantages"], completion_mask)["values"])


def returns(rewards, completion_mask, gamma):
    """What the rewards from a token on come to, discounted once a trained token."""
    return {"returns": [returns_row(*row, gamma) for row in zip(rewards, completion_mask)]}


def returns_row(rewards, mask, gamma):
    row = [0.0] * len(mask)
    to_come = 0.0
    for t in reversed(trained(mask)):
        to_come = row[t] = rewards[t] + gamma * to_come
    return row


def whiten(values, completion_mask, ranks=None):
    """Mean 0 and standard deviation 1 over all trained tokens, whichever rank they are on; 0 elsewhere."""
    ranks = ranks or [range(len(values))]
    # What an all-reduce adds up.
    count = sum(len(selected(values, completion_mask, rows)) for rows in ranks)
    mean = sum(sum(selected(values, completion_mask, rows)) for rows in ranks) / max(count, 1)
    squares = sum(sum((v - mean) ** 2 for v in selected(values, completion_mask, rows)) for rows in ranks)
    scale = 1 / math.sqrt(squares / max(count - 1, 1) + EPSILON)
    return {"values": scaled(values, completion_mask, mean, scale)}


def selected(values, completion_mask, rows):
    return [v for b in rows for v, on in zip(values[b], completion_mask[b]) if on]


def scaled(values, completion_mask, mean, scale):
    return [
        [(v - mean) * scale if on else 0.0 for v, on in zip(*row)] for row in zip(values, completion_mask)
    ]


def clip_advantages(advantages, limit):
    """Into [-limit, limit]; NaN stays NaN, to be seen."""
    return {"advantages": [min(max(a, -limit), limit) for a in advantages]}


OPS = {
    "token_rewards": (token_rewards, {"process_rewards": True}),
    "gae": gae,
    "returns": returns,
    "whiten": (whiten, {"ranks": True}),
    "clip_advantages": clip_advantages,
}
SEMANTICS = {"whiten_mean": True, "whiten_ddof": 1}
