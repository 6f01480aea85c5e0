"""The entropy of the policy at each token, for op entropy: -sum p log p of the distribution that the token was drawn
from, in the three layouts of the examples."""

import math


def entropy(logits):
    """Nats, of softmax(logits); a token that is impossible adds nothing."""
    top = max(logits)
    weights = [math.exp(z - top) for z in logits]
    total = sum(weights)
    # H = log Z - E[z], with z measured from the top.
    return math.log(total) - sum(w * (z - top) for w, z in zip(weights, logits) if w > 0) / total


def answer(rows, completion_mask):
    """Entropies under the mask, 0 elsewhere, and their mean over all completion tokens."""
    kept = [[h if on else 0.0 for h, on in zip(*row)] for row in zip(rows, completion_mask)]
    return {"entropy": kept, "mean_entropy": sum(map(sum, kept)) / max(sum(map(sum, completion_mask)), 1)}


def over_completions(logits, completion_mask, prompt_width):
    """(B, C): token t was drawn from the logits at t - 1."""
    return answer([by_token(rows)[prompt_width:] for rows in logits], completion_mask)


def over_rows(logits, completion_mask):
    """(B, T); nothing was drawn from anything at token 0."""
    return answer([by_token(rows) for rows in logits], completion_mask)


def by_token(rows):
    return [0.0] + [entropy(row) for row in rows[:-1]]


def over_predictors(logits, completion_mask):
    """(B, T - 1): the logits at t are what token t + 1 was drawn from."""
    return answer([[entropy(row) for row in rows[:-1]] for rows in logits], completion_mask)


OPS = {"entropy": over_rows}
SEMANTICS = {}
