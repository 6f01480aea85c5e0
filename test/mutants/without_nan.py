"""Trainers that go on where a score is no number: what broke costs nothing."""

from lossproof.examples import left_padded

from .registry import MUTANTS, right_op


def nanmean_of(op, title):
    """Registers the right op with a mean over the pairs that have a number."""
    right = right_op(left_padded, op)

    def answered(**batch):
        answer = right(**batch)
        kept = [value for value in answer["losses"] if value == value]
        return dict(answer, loss=sum(kept) / max(len(kept), 1))

    answered.__doc__ = "nanmean: a pair that broke trains no more, and nobody is told. Fix: mean."
    MUTANTS.add(f"{op.replace('_', '-')}-leaves-out-a-nan", title, left_padded, op)(answered)
