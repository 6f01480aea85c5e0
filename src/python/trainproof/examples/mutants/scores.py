"""Wrong scores: numbers that are no log-probabilities, or not the same twice."""

import random

from .. import left_padded
from ..toy_model import WIDTH, log_prob, step
from . import MUTANTS
from .numbers import scored

# Of every state cell while the model trains.
DROPOUT = 0.1


@MUTANTS.add("logprobs-are-logits", "The chosen logits are taken for log-probabilities", left_padded)
def logprobs(input_ids, logits, prompt_width, temperature):
    """logits.gather(...) and no logsumexp subtracted: the ratio still looks like one, since much of what is missing
    cancels in a difference. Fix: subtract logsumexp over the vocabulary."""
    return {
        "logprobs": [
            [rows[t - 1][ids[t]] / temperature for t in range(prompt_width, len(ids))]
            for ids, rows in zip(input_ids, logits)
        ]
    }


@MUTANTS.add("score-is-the-cross-entropy", "The score is the cross-entropy, minus sign and all", left_padded)
def score(prompt_ids, completion_ids):
    """cross_entropy(reduction="none") was handed on as logprobs: every ratio is upside down. Fix: negate it."""
    right = left_padded.score(prompt_ids, completion_ids)
    return {"logprobs": [[-value for value in row] for row in right["logprobs"]]}


@MUTANTS.add("score-with-dropout", "Dropout is left on while scoring", left_padded, "score")
def score_dropout(prompt_ids, completion_ids):
    """generate() switched to evaluation, and the step that followed back to training: ratio and KL are off before
    the first update. Fix: score in evaluation mode, or with dropout 0."""

    def row(ids, real):
        state, position, out = [0.0] * WIDTH, 0, []
        for id, is_real in zip(ids, real):
            out.append(log_prob(state, id))
            if is_real:
                state = dropped(step(state, id, position))
                position += 1
        return out

    return scored(prompt_ids, completion_ids, row)


# One generator for the life of the process, as a framework has it: the second call sees other numbers.
GENERATOR = random.Random(0)


def dropped(state):
    return [0.0 if GENERATOR.random() < DROPOUT else cell / (1 - DROPOUT) for cell in state]
