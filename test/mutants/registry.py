"""The mutants that were loaded, by id. A module of a family adds its own when it is imported: see `loading`."""

import inspect

from lossproof.examples.variants import Variants

MUTANTS = Variants()


def right_op(base, op):
    """f(**args): what the base answers to a request, of whose arguments its function may take some."""
    right = base.OPS[op][0] if isinstance(base.OPS[op], tuple) else base.OPS[op]
    wanted = inspect.signature(right).parameters

    def answered(**args):
        return right(**{key: value for key, value in args.items() if key in wanted})

    return answered
