"""Which function answers which op, and what it is capable of. Binding a function's parameters is in _bind."""

from __future__ import annotations

import difflib

from ._ops import ARGS

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from typing import Any

# op -> (function, capability)
_declared = {}


def op(name: Any = None, **capability: Any) -> Any:
    """Decorator: this function answers an op, named after the function or by the first argument.

    Keyword arguments are capability keys, as `kl_estimator=["k1", "k3"]`. The function is returned unchanged."""
    if callable(name):
        return op()(name)

    def register(function):
        named = known(name or function.__name__)
        if named in _declared and _declared[named][0] is not function:
            raise ValueError("op %r has two functions: %r and %r" % (named, _declared[named][0], function))
        _declared[named] = (function, capability)
        return function

    return register


def collected(ops):
    """The decorated functions with those given to serve(ops=...) on top: {op: (function, capability)}."""
    result = dict(_declared)
    result.update(given_ops(ops or {}))
    return result


def given_ops(ops):
    """{op: function} or {op: (function, capability)} as {op: (function, capability)}."""
    result = {}
    for name, given in ops.items():
        function, capability = given if isinstance(given, tuple) else (given, {})
        if not callable(function):
            raise ValueError("op %r: %r is not a function" % (name, function))
        result[known(name)] = (function, dict(capability))
    return result


def known(name):
    """The name itself; ValueError with the nearest op where there is none of this name."""
    if name in ARGS:
        return name
    raise ValueError("there is no op %r%s; ops: %s" % (name, nearest(name, ARGS), ", ".join(ARGS)))


def nearest(name, names):
    """', did you mean ...?' or ''."""
    close = difflib.get_close_matches(name, list(names), n=1)
    return ", did you mean %r?" % close[0] if close else ""
