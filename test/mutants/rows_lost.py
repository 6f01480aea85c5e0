"""Trainers that are right for the first rows of a batch: what further ones are told is what the last of these was."""

from lossproof.examples import left_padded

from .registry import MUTANTS, right_op

NUMBERS = {8: "eight", 16: "sixteen", 64: "sixty-four"}


def of_first_rows(op, count, title, story, base=left_padded, **rows):
    """The base's op; every list of its answer that has an item for each row repeats item `count` after it."""
    right = right_op(base, op)

    def wrong(**args):
        answer = right(**args)
        return {
            name: [value[min(at, count - 1)] for at in range(len(value))] if isinstance(value, list) else value
            for name, value in answer.items()
        }

    wrong.__doc__ = story
    MUTANTS.add("%s-of-%s-rows" % (op.replace("_", "-"), NUMBERS[count]), title, base, op, **rows)(wrong)
