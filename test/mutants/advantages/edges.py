"""Wrong rewards of text that is rarely drawn: thoughts of several lines, one answer to two questions."""

import re

from lossproof.examples import left_padded
from lossproof.examples.advantages import graders

from ..registry import MUTANTS
from ..rows_lost import of_eight_rows

@MUTANTS.add("format-of-one-line", "A thought of several lines has no form", left_padded, "format_score")
def format_score(completions):
    """The pattern lacks re.DOTALL: who thinks in lines is told that the form is wrong, and stops thinking in lines. Fix: the
    flag."""
    return {"scores": [float(graders.well_formed(text) and of_lines(text)) for text in completions]}


def of_lines(text):
    return all("\n" not in content.strip() for _, content in graders.BLOCK.findall(text))


@MUTANTS.add("reward-remembers-completions", "One answer to two questions is graded once", left_padded, "reward")
def reward(completions, references, completion_ids):
    """A cache of slow gradings has the completion as its key, not the reference: "42" is right everywhere where it was right
    once. Fix: both in the key."""
    cache = {}
    graded = [cache.setdefault(text, graders.graded(text, ref)) for text, ref in zip(completions, references)]
    return dict(graders.reward(completions, references, completion_ids), rewards=graded)


GRADED = {}


@MUTANTS.add("reward-cached-for-the-run", "A completion is graded once in a run", left_padded, "reward")
def reward_of_the_run(completions, references, completion_ids):
    """`@lru_cache` on a judge that takes the completion and reads the reference elsewhere: the first question that an answer was
    given to says what it is worth. Fix: the reference is an argument."""
    graded = [GRADED.setdefault(text, graders.graded(text, ref)) for text, ref in zip(completions, references)]
    return dict(graders.reward(completions, references, completion_ids), rewards=graded)


of_eight_rows(
    "format_score",
    "Completions behind the eighth have the form of the eighth",
    "A pool of eight workers, and zip(texts, workers). Fix: map.",
)


of_eight_rows(
    "overlong_penalty",
    "Rows behind the eighth pay what the eighth pays",
    "The lengths of a group of eight, taken for those of the batch. Fix: all of them.",
)


of_eight_rows(
    "token_rewards",
    "Rows behind the eighth have the rewards of the eighth",
    "Scores are gathered into a buffer of one rank. Fix: the size of the batch.",
    row="PAD-08",
)


of_eight_rows(
    "returns",
    "Rows behind the eighth have the returns of the eighth",
    "The scan is compiled for eight rows, and its index clamps. Fix: compile anew.",
    row="PAD-08",
)


@MUTANTS.add("reward-takes-digits-within", "An answer that holds the right one is right", left_padded, "reward")
def reward_within(completions, references, completion_ids):
    """`reference in answer`, so that "42 apples" is right; 421 is as well. Fix: compare what was parsed."""
    return regraded(completions, references, completion_ids, lambda given, reference: reference in given)


@MUTANTS.add("reward-drops-the-sign", "-42 is as right as 42", left_padded, "reward")
def reward_unsigned(completions, references, completion_ids):
    r"""`re.findall(r"\d+", answer)[-1]` parses answers and references: the minus is no digit. Fix: `-?\d+`."""

    def number(text):
        return (re.findall(r"\d+", text) or [text])[-1]

    return regraded(completions, references, completion_ids, lambda *both: number(both[0]) == number(both[1]))


@MUTANTS.add("reward-knows-all-answers", "The answer to any question of the set is right", left_padded, "reward")
def reward_of_the_set(completions, references, completion_ids):
    """`answer in references`, where `references` is the column and not its row. Fix: the row's own."""
    known = {sample["reference"] for sample in graders.SAMPLES}
    return regraded(completions, references, completion_ids, lambda given, reference: given in {reference, *known})


@MUTANTS.add("reward-of-any-answer", "One of several answers is enough", left_padded, "reward")
def reward_of_any(completions, references, completion_ids):
    """`any(...)` over all answer blocks, meant for drafts that are corrected: a list of all numbers earns everything. Fix: the
    last one counts."""
    right = graders.reward(completions, references, completion_ids)
    answers = [[part.strip() for tag, part in graders.BLOCK.findall(text) if tag == "answer"] for text in completions]
    rewards = [
        1.0 if reference in given else value for given, reference, value in zip(answers, references, right["rewards"])
    ]
    return dict(right, rewards=rewards)


def regraded(completions, references, completion_ids, same):
    """Rewards where `same` tells whether what was answered is the reference."""
    right = graders.reward(completions, references, completion_ids)
    given = [graders.answer_of(text) for text in completions]
    rewards = [
        value if answer is None else float(same(answer, reference))
        for answer, reference, value in zip(given, references, right["rewards"])
    ]
    return dict(right, rewards=rewards)
