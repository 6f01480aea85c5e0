"""Wrong rewards of text that is rarely drawn: thoughts of several lines, one answer to two questions."""

from lossproof.examples import left_padded
from lossproof.examples.advantages import graders

from ..registry import MUTANTS

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
