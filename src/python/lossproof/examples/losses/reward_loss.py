"""The loss of a reward model on pairs of scores: Bradley-Terry (Ouyang et al. 2022, equation 1), with margins as in Llama 2."""

import math

from .preference_loss import log_sigmoid

# Of the square of both scores' sum, which keeps scores around 0.
CENTERING = 0.01


def pairwise_loss(chosen_scores, rejected_scores, margins=None):
    """The mean over pairs of -log sigmoid(chosen - rejected - margin)."""
    return averaged(
        [apart(*pair) for pair in zip(chosen_scores, rejected_scores, margins or [0.0] * len(chosen_scores))]
    )


def centred_loss(chosen_scores, rejected_scores, margins=None):
    """The same, and scores are kept around 0."""
    right = pairwise_loss(chosen_scores, rejected_scores, margins)
    return centred(right, chosen_scores, rejected_scores, CENTERING)


def apart(chosen, rejected, margin):
    """(-log sigmoid of the difference, its derivative by the chosen score)."""
    difference = chosen - rejected - margin
    return -log_sigmoid(difference), -math.exp(log_sigmoid(-difference))


def averaged(pairs):
    """The mean over pairs of (loss, its derivative by the difference)."""
    losses = [loss for loss, _ in pairs]
    slopes = [slope / len(pairs) for _, slope in pairs]
    return {
        "loss": sum(losses) / len(losses),
        "losses": losses,
        "chosen_weights": slopes,
        "rejected_weights": [-slope for slope in slopes],
    }


def centred(right, chosen_scores, rejected_scores, centering):
    """A loss that also has `centering` times the squared sum of each pair's scores."""
    sums = [chosen + rejected for chosen, rejected in zip(chosen_scores, rejected_scores)]
    losses = [loss + centering * both**2 for loss, both in zip(right["losses"], sums)]
    slopes = [2 * centering * both / len(sums) for both in sums]
    return {
        "loss": sum(losses) / len(losses),
        "losses": losses,
        "chosen_weights": [own + slope for own, slope in zip(right["chosen_weights"], slopes)],
        "rejected_weights": [own + slope for own, slope in zip(right["rejected_weights"], slopes)],
    }


OPS = {"reward_loss": (pairwise_loss, {"margins": True})}
SEMANTICS = {"reward_centering": 0.0}
CENTRED = {"reward_centering": CENTERING}
