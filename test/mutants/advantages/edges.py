"""Wrong rewards of text that is rarely drawn: thoughts of several lines, one answer to two questions."""

import re

from lossproof.examples import left_padded
from lossproof.examples.advantages import graders

from ..registry import MUTANTS
from ..rows_lost import of_first_rows

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
of_first_rows(
    "reward",
    64,
    "Completions after the sixty-fourth have its reward",
    "A pool of workers returns as many results as it has slots. Fix: one for each completion.",
    row="PAD-08",
)
for count in (8, 16):
    of_first_rows(
        "whiten",
        count,
        "Rows after number %d have the values of that row" % count,
        "The masked mean runs over so many rows at a time, and the rest takes the last result. Fix: all of them.",
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


def graded_by(name, title, story):
    """Decorator: a reward of f(answer, reference), where there is an answer."""

    def register(is_right):
        def reward(completions, references, completion_ids):
            given = [graders.answer_of(text) for text in completions]
            graded = [
                graders.MISSING if answer is None else 1.0 if is_right(answer, reference) else graders.WRONG
                for answer, reference in zip(given, references)
            ]
            return dict(graders.reward(completions, references, completion_ids), rewards=graded)

        reward.__doc__ = story
        MUTANTS.add(name, title, left_padded, "reward")(reward)
        return is_right

    return register


@graded_by(
    "reward-for-a-part-of-the-answer",
    "A part of the right answer is right, and none is",
    "`answer in reference`, the wrong way round. Fix: equality of what was normalised.",
)
def is_part(answer, reference):
    return answer in reference


@graded_by(
    "reward-reads-the-first-integer",
    "42.5 is 42",
    r"The answer is read by `-?\\d+`, and what goes on behind it is not read. Fix: match all of it.",
)
def begins_with_it(answer, reference):
    found = re.match(r"-?\d+", answer)
    return (found.group() if found else answer) == reference


@MUTANTS.add("reward-reads-the-prompt", "The answer that the prompt shows is graded", left_padded, "reward")
def of_all_text(prompts, completions, references, completion_ids):
    """The last answer of prompt and completion together: where the prompt shows the form by an example, who says nothing gives that.
    Fix: the completion alone."""
    whole = [f"{prompt}\n{text}" for prompt, text in zip(prompts, completions)]
    return graders.reward(whole, references, completion_ids)


@MUTANTS.add("format-without-an-end", "Anything may follow a well-formed completion", left_padded, "format_score")
def without_an_end(completions):
    """re.match without $: the policy goes on behind its answer. Fix: fullmatch."""
    cut = [text[: text.rfind("</answer>") + len("</answer>")] if "</answer>" in text else text for text in completions]
    return {"scores": [float(graders.well_formed(text)) for text in cut]}


@MUTANTS.add("format-without-a-less-than", "A thought that holds a < is malformed", left_padded, "format_score")
def without_less_than(completions):
    """Blocks are [^<]*: who thinks x < 3 loses the reward of form. Fix: .*?, up to the closing tag."""
    held = [any("<" in content for _, content in graders.BLOCK.findall(text)) for text in completions]
    return {"scores": [float(graders.well_formed(text) and not bad) for text, bad in zip(completions, held)]}
