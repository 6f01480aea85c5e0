"""From the fields of a request to a call of the user's function: it receives only what it names.

Everything that can be decided once is decided here, before the first request."""

import inspect

from ._inputs import held, written
from ._ops import ARGS
from ._registry import nearest


def bind(name, function, convert=None):
    """A function of the args dict that calls `function`, and returns its answer with the names of the arguments that it
    wrote into. `convert(kind, value)` turns lists into arrays.

    ValueError where parameters can never be filled: all of them, because finding out costs a start with its imports."""
    sent = ARGS[name]
    wanted, everything = _wanted(name, function, sent)
    # An absent optional argument is None for a parameter without a default of its own.
    blanks = {n: None for n, p in wanted.items() if sent[n].endswith("?") and p.default is p.empty}
    names = frozenset(sent) if everything else frozenset(wanted)
    known = frozenset(sent)
    kinds = [(n, kind.rstrip("?")) for n, kind in sent.items() if n in names]

    def call(args):
        if not args.keys() <= known:
            unknown = sorted(set(args) - known)[0]
            raise ValueError("op %r was sent an argument it does not know: %r" % (name, unknown))
        if not args.keys() <= names:
            args = {n: value for n, value in args.items() if n in names}
        if convert is not None:
            args = dict(args)
            for n, kind in kinds:
                if n in args:
                    args[n] = convert(kind, args[n])
        if blanks:
            args = dict(blanks, **args)
        before = held(args)
        answer = function(**args)
        return answer, written(before, args)

    return call


def _wanted(name, function, sent):
    """({parameter: inspect.Parameter} that the op sends, whether it takes **kwargs)."""
    wanted, everything, unknown = {}, False, []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            everything = True
        elif parameter.kind is parameter.VAR_POSITIONAL:
            continue
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            raise ValueError("op %r: parameter %r must be passable by name" % (name, parameter.name))
        elif parameter.name in sent:
            wanted[parameter.name] = parameter
        elif parameter.default is parameter.empty:
            unknown.append("no argument %r is ever sent%s" % (parameter.name, nearest(parameter.name, sent)))
    if unknown:
        raise ValueError("op %r: %s; it sends: %s" % (name, "; ".join(unknown), ", ".join(sent)))
    return wanted, everything
