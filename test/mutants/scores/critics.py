"""Wrong critics and reward models."""

import math
import random

from lossproof.examples import left_padded
from lossproof.examples.lists import pad_left, pad_right
from lossproof.examples.scores import critic
from lossproof.examples.scores.critic import whole
from lossproof.examples.scores.toy_model import WIDTH, reward_rows, step, value_of, value_rows

from ..registry import MUTANTS

STOP_ID = left_padded.STOP_ID


def cut(rows, prompt_ids, completion_ids, late=0):
    """The completion's part of right-padded rows."""
    return {
        "values": [
            row[len(p) + late : len(p) + len(c) + late] for row, p, c in zip(rows, prompt_ids, completion_ids)
        ]
    }


@MUTANTS.add(
    "values-over-temperature", "Values are divided by the temperature", left_padded, "values", row="LP-06"
)
def values_scaled(prompt_ids, completion_ids, temperature):
    """One forward function for actor and critic divides its output by the sampling temperature. Fix: divide logits
    only."""
    right = critic.values(prompt_ids, completion_ids)["values"]
    return {"values": [[value / temperature for value in row] for row in right]}


@MUTANTS.add(
    "values-behind-their-token",
    "A token's value is read at the token itself",
    left_padded,
    "values",
    row="VAL-03",
)
def values_late(prompt_ids, completion_ids):
    """values[start:end] for values[start - 1 : end - 1]: the baseline has seen the token that it is a baseline of.
    Fix: one column earlier."""
    rows, _ = pad_right(whole(prompt_ids, completion_ids), STOP_ID)
    longer = value_rows([row + [STOP_ID] for row in rows], [[1] * (len(row) + 1) for row in rows])
    return cut(longer, prompt_ids, completion_ids, late=1)


@MUTANTS.add("values-are-nan", "Every value is NaN", left_padded, "values", row="NUM-01")
def values_nan(prompt_ids, completion_ids):
    """The value head was made on the meta device and never filled. NaN agrees with nothing, so that no comparison of two answers
    says so. Fix: load the head."""
    return {"values": [[math.nan for _ in row] for row in completion_ids]}


@MUTANTS.add("scores-are-nan", "Every score of the reward model is NaN", left_padded, "reward_model", row="NUM-01")
def scores_nan(prompt_ids, completion_ids):
    """As values-are-nan, of the head of a reward model."""
    return {"scores": [math.nan for _ in completion_ids]}


@MUTANTS.add(
    "values-look-ahead", "The critic's attention is not causal", left_padded, "values", row="LP-16"
)
def values_ahead(prompt_ids, completion_ids):
    """An encoder was taken for a critic: every value knows how the answer ends. Fix: a causal model."""
    ends = reward_rows(*pad_right(whole(prompt_ids, completion_ids), STOP_ID))
    right = critic.values(prompt_ids, completion_ids)["values"]
    return {"values": [[value + end for value in row] for row, end in zip(right, ends)]}


@MUTANTS.add(
    "values-without-the-prompt",
    "The critic is given completions only",
    left_padded,
    "values",
    row="TPL-07",
)
def values_alone(prompt_ids, completion_ids):
    """The batch of responses was at hand, and the critic took it. Fix: prompt and completion."""
    return critic.values([[STOP_ID]] * len(prompt_ids), completion_ids)


@MUTANTS.add(
    "values-count-padding",
    "The critic counts padding columns as positions",
    left_padded,
    "values",
    row="PAD-04",
)
def values_padded(prompt_ids, completion_ids):
    """position_ids = arange(T) on rows that are padded on the left. Fix: cumsum of the attention mask."""
    rows, real = pad_left(whole(prompt_ids, completion_ids), STOP_ID)
    out = []
    for ids, is_real, completion in zip(rows, real, completion_ids):
        state, values = [0.0] * WIDTH, []
        for column, id in enumerate(ids):
            values.append(value_of(state))
            if is_real[column]:
                state = step(state, id, column)
        out.append(values[len(values) - len(completion) :])
    return {"values": out}


def by_length(ids):
    """Longest first, as a loader sorts that wants little padding."""
    return sorted(range(len(ids)), key=lambda row: -len(ids[row]))


@MUTANTS.add(
    "values-sorted-by-length",
    "Values come in the order of lengths",
    left_padded,
    "values",
    row="PAD-08",
)
def values_sorted(prompt_ids, completion_ids):
    """Rows were sorted by length to save padding, and the values never sorted back; where a row's length is not its
    neighbour's, they are cut or filled up. Fix: undo the sort."""
    rows = critic.values(prompt_ids, completion_ids)["values"]
    moved = [rows[row] for row in by_length(whole(prompt_ids, completion_ids))]
    return {
        "values": [(row + [0.0] * len(c))[: len(c)] for row, c in zip(moved, completion_ids)],
    }


# One generator for the life of the process, as a framework has it.
GENERATOR = random.Random(0)


@MUTANTS.add(
    "values-with-dropout", "Dropout is left on in the critic", left_padded, "values", row="LP-12"
)
def values_dropout(prompt_ids, completion_ids):
    """Only the actor was put into evaluation mode. Fix: the critic as well."""
    right = critic.values(prompt_ids, completion_ids)["values"]
    return {"values": [[value * GENERATOR.uniform(0.9, 1.1) for value in row] for row in right]}


@MUTANTS.add(
    "reward-model-with-dropout",
    "Dropout is left on in the reward model",
    left_padded,
    "reward_model",
    row="LP-12",
)
def scores_dropout(prompt_ids, completion_ids):
    """A sequence classifier loaded for training and never switched. Fix: evaluation mode."""
    right = critic.reward_model(prompt_ids, completion_ids)["scores"]
    return {"scores": [score * GENERATOR.uniform(0.9, 1.1) for score in right]}


@MUTANTS.add(
    "score-at-the-first-pad",
    "The score is read in front of the first id that is the pad id",
    left_padded,
    "reward_model",
    row="VAL-05",
    rows=("EOS-02",),
)
def score_early(prompt_ids, completion_ids):
    """(ids == pad).argmax() - 1, and the pad is the stop token: a prompt of several turns holds some, and its first
    is where the score is read. Fix: the last 1 of the attention mask."""
    scores = []
    for row in whole(prompt_ids, completion_ids):
        end = row.index(STOP_ID) if STOP_ID in row else len(row)
        scores += reward_rows([row[:end]], [[1] * end])
    return {"scores": scores}


@MUTANTS.add(
    "score-at-the-last-column",
    "The score is read at the last column, padding or not",
    left_padded,
    "reward_model",
    row="VAL-05",
)
def score_late(prompt_ids, completion_ids):
    """logits[:, -1] of rows that are padded on the right. Fix: the last 1 of the attention mask."""
    rows, _ = pad_right(whole(prompt_ids, completion_ids), STOP_ID)
    return {"scores": reward_rows(rows, [[1] * len(row) for row in rows])}


@MUTANTS.add(
    "score-of-the-answer-alone",
    "The reward model is given completions only",
    left_padded,
    "reward_model",
    row="TPL-07",
)
def score_alone(prompt_ids, completion_ids):
    """The reward function has a parameter for the prompt, and its caller left it out. Fix: hand it over."""
    return critic.reward_model([[STOP_ID]] * len(prompt_ids), completion_ids)


@MUTANTS.add(
    "scores-sorted-by-length", "Scores come in the order of lengths", left_padded, "reward_model", row="PAD-08"
)
def scores_sorted(prompt_ids, completion_ids):
    """The reward server batches rows of like length and answers in that order. Fix: undo the sort."""
    scores = critic.reward_model(prompt_ids, completion_ids)["scores"]
    return {"scores": [scores[row] for row in by_length(whole(prompt_ids, completion_ids))]}


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
    "values-of-the-prompt",
    "Every token has the value of the prompt",
    left_padded,
    "values",
    row="VAL-03",
)
def value_of_the_prompt(prompt_ids, completion_ids):
    """values[:, prompt_width - 1] was kept from the bandit that the trainer began as, and is spread over the completion.
    Fix: one value per token."""
    rows = critic.values(prompt_ids, completion_ids)["values"]
    return {"values": [row[:1] * len(row) for row in rows]}


@MUTANTS.add(
    "reward-model-counts-twice",
    "The reward model's positions begin anew with the completion",
    left_padded,
    "reward_model",
    row="PAD-05",
)
def rated_from_two_parts(prompt_ids, completion_ids):
    """The pair encoder of the tokenizer numbers its two texts apart. Fix: one row, one count."""
    return {"scores": [value_of(states(p, c)[-1]) for p, c in zip(prompt_ids, completion_ids)]}


@MUTANTS.add(
    "values-last-piece-lost",
    "Values of a batch are computed eight rows at a time, and the last piece stays 0 where it is not full",
    left_padded,
    "values",
    row="LP-16",
)
def values_last_piece(prompt_ids, completion_ids):
    """for i in range(B // 8) fills what torch.zeros made. Fix: range(0, B, 8)."""
    right = critic.values(prompt_ids, completion_ids)["values"]
    full = len(right) // 8 * 8 or len(right)
    return {"values": [row if b < full else [0.0] * len(row) for b, row in enumerate(right)]}


@MUTANTS.add(
    "scores-last-piece-lost",
    "The reward model scores eight rows at a time, and the last piece gets the mean of the others where it is not full",
    left_padded,
    "reward_model",
    row="LP-16",
)
def scores_last_piece(prompt_ids, completion_ids):
    """Rows without a score were taken for failures of the server, which are given the mean. Fix: range(0, B, 8)."""
    right = critic.reward_model(prompt_ids, completion_ids)["scores"]
    full = len(right) // 8 * 8 or len(right)
    mean = sum(right[:full]) / full
    return {"scores": [score if b < full else mean for b, score in enumerate(right)]}
