"""The exact KL between policy and reference at each token, for op full_kl: sum p (log p - log q) over the vocabulary,
of the distributions that the token was drawn from, in the three layouts of the examples."""

import math


def full_kl(logits, ref_logits, temperature):
    """Nats; a token that the policy cannot produce adds nothing, and NaN stays NaN."""
    pairs = zip(log_softmax(logits, temperature), log_softmax(ref_logits, temperature))
    return sum(math.exp(logp) * (logp - logq) for logp, logq in pairs if logp != -math.inf)


def log_softmax(logits, temperature):
    scaled = [z / temperature for z in logits]
    top = max(scaled)
    total = math.log(sum(math.exp(z - top) for z in scaled))
    return [z - top - total for z in scaled]


def answer(rows, completion_mask):
    """Under the mask, 0 elsewhere, and the mean over all completion tokens."""
    kept = [[kl if on else 0.0 for kl, on in zip(*row)] for row in zip(rows, completion_mask)]
    return {"kl": kept, "mean_kl": sum(map(sum, kept)) / max(sum(map(sum, completion_mask)), 1)}


def by_predictor(logits, ref_logits, temperature):
    """(B, T - 1): the logits at t are what token t + 1 was drawn from."""
    return [[full_kl(*pair, temperature) for pair in zip(*rows)][:-1] for rows in zip(logits, ref_logits)]


def over_completions(logits, ref_logits, completion_mask, prompt_width, temperature):
    """(B, C)"""
    rows = by_predictor(logits, ref_logits, temperature)
    return answer([row[prompt_width - 1 :] for row in rows], completion_mask)


def over_rows(logits, ref_logits, completion_mask, temperature):
    """(B, T); nothing was drawn from anything at token 0."""
    return answer([[0.0, *row] for row in by_predictor(logits, ref_logits, temperature)], completion_mask)


def over_predictors(logits, ref_logits, completion_mask, temperature):
    return answer(by_predictor(logits, ref_logits, temperature), completion_mask)


CAN = {"temperature": True}
OPS = {"full_kl": (over_rows, CAN)}
SEMANTICS = {}
