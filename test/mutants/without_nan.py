"""Trainers that go on where a score is no number: what broke costs nothing."""

from lossproof.examples import left_padded

from .registry import MUTANTS, right_op


def zeros(value):
    """torch.nan_to_num."""
    if isinstance(value, list):
        return [zeros(each) for each in value]
    return 0.0 if value != value else value


def of_numbers(op, field, title):
    """Registers the right op behind nan_to_num on one of its fields."""
    right = right_op(left_padded, op)

    def answered(**batch):
        return right(**{**batch, field: zeros(batch[field])})

    answered.__doc__ = (
        "nan_to_num on the scores, so that a run survives a bad batch: what broke trains no more, and the loss looks well. "
        "Fix: let it be NaN, and leave the step out aloud."
    )
    MUTANTS.add(f"{op.replace('_', '-')}-of-a-nan-is-nothing", title, left_padded, op)(answered)


def nanmean_of(op, title):
    """Registers the right op with a mean over the pairs that have a number."""
    right = right_op(left_padded, op)

    def answered(**batch):
        answer = right(**batch)
        kept = [value for value in answer["losses"] if value == value]
        return dict(answer, loss=sum(kept) / max(len(kept), 1))

    answered.__doc__ = "nanmean: a pair that broke trains no more, and nobody is told. Fix: mean."
    MUTANTS.add(f"{op.replace('_', '-')}-leaves-out-a-nan", title, left_padded, op)(answered)
