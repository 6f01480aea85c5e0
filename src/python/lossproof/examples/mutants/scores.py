"""Wrong scores: numbers that are no log-probabilities, or not the same twice."""

import random

from .. import left_padded
from ..toy_model import WIDTH, log_prob, score_rows, step
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


@MUTANTS.add("score-with-dropout", "Dropout is left on while scoring", left_padded, "score", row="LP-12")
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


@MUTANTS.add(
    "score-without-the-prompt",
    "Completions are scored without their prompts",
    left_padded,
    "score",
    row="TPL-07",
)
def score_alone(prompt_ids, completion_ids):
    """The reference server was sent the completions only: each answer is rated as the beginning of a text. Numbers
    look right, batches agree, and the KL is about nothing. Fix: send prompt and completion."""
    # Something must stand before the first token, and servers put a special token there.
    rows = [[left_padded.STOP_ID] + ids for ids in completion_ids]
    return {"logprobs": [row[1:] for ids in rows for row in score_rows([ids], [[1] * len(ids)])]}


@MUTANTS.add("score-looks-ahead", "Attention is not causal while scoring", left_padded, "score")
def score_ahead(prompt_ids, completion_ids):
    """An attention mask of one's own switched is_causal off, and every token sees the whole row, itself included.
    Fix: hand over a mask that is causal, or none."""

    def row(ids, real):
        state, position = [0.0] * WIDTH, 0
        for id, is_real in zip(ids, real):
            if is_real:
                state, position = step(state, id, position), position + 1
        return [log_prob(state, id) for id in ids]

    return scored(prompt_ids, completion_ids, row)


@MUTANTS.add(
    "score-of-the-token-before", "Scores are cut out one column early", left_padded, "score", row="LP-01"
)
def score_early(prompt_ids, completion_ids):
    """row[P - 1 : -1] is where a completion's scores stand in logits, and here they had been moved to their tokens
    already: each token is paired with the score of the one before it. Fix: shift once."""
    longer = [prompt[-1:] + ids for prompt, ids in zip(prompt_ids, completion_ids)]
    whole = left_padded.score([prompt[:-1] for prompt in prompt_ids], longer)
    return {"logprobs": [row[:-1] for row in whole["logprobs"]]}


@MUTANTS.add("score-kept-by-prompt", "Scores are kept in a table by prompt", left_padded, "score")
def score_by_prompt(prompt_ids, completion_ids):
    """{tuple(prompt): row of the padded scores}: all samples of one prompt get the scores of its last. Fix: keep them
    by row."""
    right = left_padded.score(prompt_ids, completion_ids)["logprobs"]
    width = max(map(len, right))
    kept = {tuple(prompt): row + [0.0] * (width - len(row)) for prompt, row in zip(prompt_ids, right)}
    return {"logprobs": [kept[tuple(p)][: len(c)] for p, c in zip(prompt_ids, completion_ids)]}


# One generator for the life of the process, as a framework has it: the second call sees other numbers.
GENERATOR = random.Random(0)


def dropped(state):
    return [0.0 if GENERATOR.random() < DROPOUT else cell / (1 - DROPOUT) for cell in state]
