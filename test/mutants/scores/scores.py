"""Wrong scores of a model: numbers that are no log-probabilities, not the same twice, or changed by padding and
packing."""

import math
import random

from lossproof.examples import left_padded
from lossproof.examples.lists import beside, pad_left, pad_right
from lossproof.examples.scores.toy_model import WIDTH, log_prob, score_rows, step

from ..registry import MUTANTS


def scored(prompt_ids, completion_ids, score_row):
    """The right batch, every row through a wrong `score_row(ids, real)`."""
    prompts, prompt_real = pad_left(prompt_ids, left_padded.PAD_ID)
    completions, real = pad_right(completion_ids, left_padded.PAD_ID)
    rows = [score_row(*row) for row in zip(beside(prompts, completions), beside(prompt_real, real))]
    width = len(prompts[0])
    return {"logprobs": [row[width : width + len(ids)] for row, ids in zip(rows, completion_ids)]}


@MUTANTS.add(
    "score-counts-padding-positions", "Positions count the padding on the left", left_padded, row="PAD-05"
)
def score(prompt_ids, completion_ids):
    """position_ids were left to the model's default, range(T): a row's scores depend on its longest mate."""

    def row(ids, real):
        state, out = [0.0] * WIDTH, []
        for column, id in enumerate(ids):
            out.append(log_prob(state, id))
            if real[column]:
                state = step(state, id, column)
        return out

    return scored(prompt_ids, completion_ids, row)


@MUTANTS.add("score-attends-padding", "The model reads the padding", left_padded, "score", row="LP-16")
def score_padding(prompt_ids, completion_ids):
    """attention_mask was not passed to the model."""

    def row(ids, real):
        state, position, out = [0.0] * WIDTH, 0, []
        for id, is_real in zip(ids, real):
            out.append(log_prob(state, id))
            state = step(state, id, position)
            position += is_real
        return out

    return scored(prompt_ids, completion_ids, row)


@MUTANTS.add(
    "score-leaks-between-rows",
    "A row starts from the state that the row before it left",
    left_padded,
    "score",
)
def score_leaky(prompt_ids, completion_ids):
    """The cache is not reset between rows, so scores depend on batch mates."""
    state = [0.0] * WIDTH

    def row(ids, real):
        nonlocal state
        position, out = 0, []
        for id, is_real in zip(ids, real):
            out.append(log_prob(state, id))
            if is_real:
                state = step(state, id, position)
                position += 1
        return out

    return scored(prompt_ids, completion_ids, row)


# Of every state cell while the model trains.
DROPOUT = 0.1


@MUTANTS.add(
    "score-is-the-cross-entropy", "The score is the cross-entropy, minus sign and all", left_padded, "score"
)
def cross_entropy(prompt_ids, completion_ids):
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


@MUTANTS.add(
    "score-last-piece-lost",
    "Rows are scored eight at a time, and those behind the last full eight with the model's state of the one before",
    left_padded,
    "score",
    row="LP-16",
)
def score_last_piece(prompt_ids, completion_ids):
    """The rest of the batch was filled up with the row that came last, and its own rows were overwritten. Fix: score what is
    left as it is."""
    right = left_padded.score(prompt_ids, completion_ids)["logprobs"]
    full = len(right) // 8 * 8 or len(right)
    last = right[full - 1]
    return {"logprobs": [row if b < full else (last + row)[: len(row)] for b, row in enumerate(right)]}


# One generator for the life of the process, as a framework has it: the second call sees other numbers.
GENERATOR = random.Random(0)


def dropped(state):
    return [0.0 if GENERATOR.random() < DROPOUT else cell / (1 - DROPOUT) for cell in state]


def add(base, op, name, title, story, wrong, row="", **more):
    wrong.__doc__ = story
    MUTANTS.add(name, title, base, op, row=row, **more)(wrong)


def nan_for_left_padding(prompt_ids, completion_ids):
    """Attention over no keys at all: the queries of left padding are NaN, and spread through the row."""
    width = max(map(len, prompt_ids), default=0)
    rows = left_padded.score(prompt_ids, completion_ids)["logprobs"]
    return {
        "logprobs": [
            row if len(prompt) == width else [math.nan] * len(row) for row, prompt in zip(rows, prompt_ids)
        ]
    }


add(
    left_padded,
    "score",
    "score-nan-behind-padding",
    "Rows with padding on the left score NaN",
    "A softmax over keys that are all masked is 0/0; the next layer mixes it into the real tokens.",
    nan_for_left_padding,
    "NUM-03",
)


def of_packed(name, title, story, between, **rows):
    """A score op whose packed rows go on with between(state, position) where an example begins."""

    def score(prompt_ids, completion_ids, packed=False):
        if not packed:
            return left_padded.score(prompt_ids, completion_ids)
        state, position, out = [0.0] * WIDTH, 0, []
        for prompt, completion in zip(prompt_ids, completion_ids):
            state, position = between(state, position)
            seen = []
            for id in prompt + completion:
                seen.append(log_prob(state, id))
                state, position = step(state, id, position), position + 1
            out.append(seen[len(prompt) :])
        return {"logprobs": out}

    score.__doc__ = story
    MUTANTS.add(name, title, left_padded, **rows)(score)


of_packed(
    "packed-rows-see-each-other",
    "Packed examples attend to the ones before them",
    "One causal mask over the packed row: every example is scored as the continuation of its neighbours. Positions "
    "restart, so it looks like packing done right. Fix: a block-diagonal mask, or a kernel that is told the lengths.",
    lambda state, position: (state, 0),
    row="PCK-01",
)
of_packed(
    "packed-scores-at-positions-that-run-on",
    "Packed examples are scored at the positions of the packed row",
    "Attention is kept apart, position_ids are not. A model with absolute positions sees texts that begin in the middle. "
    "Fix: restart position_ids with every example.",
    lambda state, position: ([0.0] * WIDTH, position),
    row="PCK-02",
)


def states(prompt, completion):
    """The state before each completion token, and behind the last; positions begin at 0 a second time."""
    state = [0.0] * WIDTH
    for position, id in enumerate(prompt):
        state = step(state, id, position)
    out = [state]
    for position, id in enumerate(completion):
        state = step(state, id, position)
        out.append(state)
    return out


@MUTANTS.add(
    "positions-begin-twice",
    "Positions begin anew with the completion",
    left_padded,
    "score",
    row="PAD-05",
)
def scored_from_two_parts(prompt_ids, completion_ids, packed=False):
    """Prompts and completions are padded apart, each with position ids of its own, and then joined. Fix: count over the
    joined row."""
    return {
        "logprobs": [
            [log_prob(state, id) for state, id in zip(states(p, c), c)]
            for p, c in zip(prompt_ids, completion_ids)
        ]
    }
