"""Whether a call wrote into its arguments: what they held before it, compared with what they hold after it."""

import marshal

# The last format without references: equal values make equal bytes, whoever else holds them. Floats are exact in it,
# and NaN is equal to itself.
_FORMAT = 2
# Nobody can write into these.
_FIXED = (str, int, float, bool, type(None))


def held(args):
    """{name: what it holds, as bytes} of the arguments that can be written into."""
    return {name: _held(value) for name, value in args.items() if not isinstance(value, _FIXED)}


def written(before, args):
    """The names of the arguments that no longer hold what they held `before`."""
    return [name for name, was in before.items() if _held(args[name]) != was]


def _held(value):
    try:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            value = value.numpy() if value.dim() else value.tolist()
        if hasattr(value, "tobytes"):
            return value.shape, value.tobytes()
        return marshal.dumps(value, _FORMAT)
    except Exception as why:  # something stands in it now that no request holds, or a tensor was taken apart
        return type(why)
