"""Wrong rewards of text that is rarely drawn: thoughts of several lines, one answer to two questions."""

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
