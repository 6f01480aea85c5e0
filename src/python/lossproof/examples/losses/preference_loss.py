"""Objectives on pairs of a better and a worse completion, for op preference_loss: those of DPO (Rafailov et al. 2023),
IPO (Azar et al. 2023) and SimPO (Meng et al. 2024)."""

import math

import lossproof

BETA = 0.1
# IPO and SimPO compare means per token, which are small: their coefficients are larger.
IPO_BETA = 0.5
SIMPO_BETA = 2.0
# The target margin of SimPO, already divided by SIMPO_BETA.
SIMPO_GAMMA = 0.5


def dpo_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None):
    """-log sigmoid(beta * margin) of summed log-ratios, the mean over pairs (equation 7 of the DPO paper)."""
    beta = setting(settings, "beta", BETA)
    chosen = [beta * ratio for ratio in ratios(chosen_logprobs, ref_chosen_logprobs)]
    rejected = [beta * ratio for ratio in ratios(rejected_logprobs, ref_rejected_logprobs)]
    return pairs([-log_sigmoid(c - r) for c, r in zip(chosen, rejected)], chosen, rejected)


def ipo_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs):
    """(margin - 1 / (2 beta)) squared, of log-ratios per token (equation 17 of the IPO paper, as averaged in TRL)."""
    chosen = per_token(ratios(chosen_logprobs, ref_chosen_logprobs), chosen_logprobs)
    rejected = per_token(ratios(rejected_logprobs, ref_rejected_logprobs), rejected_logprobs)
    losses = [(c - r - 1 / (2 * IPO_BETA)) ** 2 for c, r in zip(chosen, rejected)]
    return pairs(losses, [IPO_BETA * c for c in chosen], [IPO_BETA * r for r in rejected])


def simpo_loss(chosen_logprobs, rejected_logprobs):
    """-log sigmoid(beta * (margin - gamma)) of log-probabilities per token, without a reference model."""
    chosen = per_token(map(sum, chosen_logprobs), chosen_logprobs)
    rejected = per_token(map(sum, rejected_logprobs), rejected_logprobs)
    losses = [-log_sigmoid(SIMPO_BETA * (c - r - SIMPO_GAMMA)) for c, r in zip(chosen, rejected)]
    return pairs(losses, [SIMPO_BETA * c for c in chosen], [SIMPO_BETA * r for r in rejected])


def setting(settings, name, default):
    """A setting by name; one that does not exist is refused."""
    unknown = [key for key in settings or {} if key != name]
    if unknown:
        raise lossproof.Reject("no setting %s; there is %s" % (unknown[0], name))
    return (settings or {}).get(name, default)


def ratios(logprobs, ref_logprobs):
    """log policy - log reference of each row, summed over its tokens."""
    return [sum(row) - sum(ref) for row, ref in zip(logprobs, ref_logprobs)]


def per_token(values, rows):
    return [value / len(row) for value, row in zip(values, rows)]


def pairs(losses, chosen_rewards, rejected_rewards):
    return {
        "loss": sum(losses) / len(losses),
        "losses": losses,
        "chosen_rewards": chosen_rewards,
        "rejected_rewards": rejected_rewards,
    }


def log_sigmoid(x):
    """-log(1 + exp(-x)), without an exp that overflows."""
    return min(x, 0.0) - math.log1p(math.exp(-abs(x)))


OPS = {"preference_loss": (dpo_loss, {"knobs": {"beta": [0.1, 0.5]}})}
SEMANTICS = {
    "preference_objective": "dpo",
    "preference_beta": BETA,
    "preference_label_smoothing": 0.0,
}
