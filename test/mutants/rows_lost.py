"""Trainers that are right for eight rows: what further ones are told is what the eighth was."""

from lossproof.examples import left_padded

from .registry import MUTANTS, right_op

ROWS = 8


def of_eight_rows(op, title, story, base=left_padded, **rows):
    """The base's op; every list of its answer that has a number for each row repeats the eighth behind it."""
    right = right_op(base, op)

    def wrong(**args):
        answer = right(**args)
        return {
            name: [value[min(at, ROWS - 1)] for at in range(len(value))] if isinstance(value, list) else value
            for name, value in answer.items()
        }

    wrong.__doc__ = story
    MUTANTS.add("%s-of-eight-rows" % op.replace("_", "-"), title, base, op, **rows)(wrong)
