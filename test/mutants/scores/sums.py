"""Scores that are no log-softmax over the vocabulary: their probabilities do not add up to 1."""

from math import exp, log1p

from lossproof.examples import left_padded

from ..registry import MUTANTS

TEMPERATURE = 3.0


def changed(prompt_ids, completion_ids, packed, of_row):
    scores = left_padded.score(prompt_ids, completion_ids, packed)["logprobs"]
    return {"logprobs": [of_row(row) for row in scores]}


@MUTANTS.add(
    "temperature-behind-log-softmax", "The temperature divides log-probabilities", left_padded, "score", row="LP-21"
)
def score(prompt_ids, completion_ids, packed=False):
    """The engine hands over log-probabilities of the chosen tokens only, and they are divided. Fix: divide the logits."""
    return changed(prompt_ids, completion_ids, packed, lambda row: [value / TEMPERATURE for value in row])


@MUTANTS.add("score-is-a-log-sigmoid", "Each logit has a sigmoid of its own", left_padded, "score", row="LP-21")
def score_sigmoid(prompt_ids, completion_ids, packed=False):
    """logsigmoid in the place of log_softmax: each token is a yes or no of its own. Fix: normalise over the vocabulary."""
    return changed(prompt_ids, completion_ids, packed, lambda row: [-log1p(exp(-4 - value)) for value in row])


@MUTANTS.add("score-per-two-tokens", "Scores are halved", left_padded, "score", row="LP-21")
def score_halved(prompt_ids, completion_ids, packed=False):
    """A mean over two heads of which one is all 0. Fix: no head that adds nothing."""
    return changed(prompt_ids, completion_ids, packed, lambda row: [value / 2 for value in row])


@MUTANTS.add("score-above-its-maximum", "Logits less their maximum", left_padded, "score", row="LP-21")
def score_unnormalised(prompt_ids, completion_ids, packed=False):
    """The maximum is subtracted for stability, the logarithm of the sum is not. Fix: subtract log-sum-exp."""
    return changed(prompt_ids, completion_ids, packed, lambda row: [min(0.0, value + 4.5) for value in row])
