"""Trainers that are right but for what they leave behind: they write into their arguments."""

from lossproof.examples import left_padded

from .registry import MUTANTS, right_op


def written(op, name, title, story, write, base=left_padded, **rows):
    """The base's op, called on what it was handed; then `write(args)`, as if it had worked in place."""
    right = right_op(base, op)

    def wrong(**args):
        answer = right(**args)
        write(args)
        return answer

    wrong.__doc__ = story
    MUTANTS.add(name, title, base, op, **rows)(wrong)


def masked(field):
    """x *= mask, and where the mask is all 1 a bias of the function's own."""

    def write(args):
        for row, mask in zip(args[field], args["completion_mask"]):
            for t, on in enumerate(mask):
                row[t] = 2 * row[t] - 1 if on else 0.0

    return write
