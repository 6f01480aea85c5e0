"""Losses on completions that are labelled one by one: KTO (Ethayarajh et al. 2024, equation 7) and the unpaired APO-zero
(D'Oosterlinck et al. 2024, equation 7). Log-probabilities come one number a completion token."""

import math

from .preference_loss import log_sigmoid, ratios

BETA = 0.1
UNDESIRABLE_WEIGHT = 1.25
APO_BETA = 0.5


def unpaired_loss(objective, beta, desirable_weight, undesirable_weight):
    """The op with these settings."""

    def op(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
        kl = estimate(kl_logprobs, ref_kl_logprobs) if objective == "kto" else 0.0
        rows = []
        for ratio, good in zip(ratios(logprobs, ref_logprobs), desirable):
            weight, sign = (desirable_weight, 1) if good else (undesirable_weight, -1)
            rows.append((weight, sign * beta, sign * beta * (ratio - kl)))
        return averaged(rows, logprobs, kl_logprobs, kl)

    return op


def estimate(kl_logprobs, ref_kl_logprobs):
    """The KL of the batch, from completions of other rows; what is below 0 is no KL."""
    found = list(ratios(kl_logprobs, ref_kl_logprobs))
    return max(0.0, sum(found) / len(found))


def averaged(rows, logprobs, kl_logprobs, kl):
    """The mean over rows (weight, slope, h) of weight * (1 - sigmoid(h)), h with that slope; the KL is a constant."""
    count = len(rows)
    shorts = [math.exp(log_sigmoid(-h)) for _, _, h in rows]
    losses = [weight * short for (weight, _, _), short in zip(rows, shorts)]
    slopes = [-weight * slope * short * (1 - short) / count for (weight, slope, _), short in zip(rows, shorts)]
    return {
        "loss": sum(losses) / count,
        "losses": losses,
        "weights": [[slope] * len(row) for slope, row in zip(slopes, logprobs)],
        "kl_weights": [[0.0] * len(row) for row in kl_logprobs],
        "kl": kl,
    }


kto_loss = unpaired_loss("kto", BETA, 1.0, UNDESIRABLE_WEIGHT)
apo_zero_loss = unpaired_loss("apo_zero", APO_BETA, 1.0, 1.0)

OPS = {"unpaired_preference_loss": kto_loss}
SEMANTICS = {
    "unpaired_objective": "kto",
    "unpaired_beta": BETA,
    "desirable_weight": 1.0,
    "undesirable_weight": UNDESIRABLE_WEIGHT,
}
APO_ZERO = {
    "unpaired_objective": "apo_zero",
    "unpaired_beta": APO_BETA,
    "desirable_weight": 1.0,
    "undesirable_weight": 1.0,
}
