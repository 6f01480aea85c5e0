"""Which function answers which op, and what it is capable of. Binding a function's parameters is in _bind."""

from __future__ import annotations

import difflib
import sys

from . import _channel
from ._ops import ARGS

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from typing import Any

# module that declares -> {op: (function, capability)}
_declared = {}
_TWO = "op %r has two functions: %r and %r"


def op(name: Any = None, **capability: Any) -> Any:
    """Decorator: this function answers an op, named after the function or by the first argument.

    Keyword arguments are capability keys, as `kl_estimator=["k1", "k3"]`. The function is returned unchanged."""
    module = sys._getframe(1).f_globals.get("__name__")
    if callable(name):
        return _declare(module, name.__name__, name, capability)
    return lambda function: _declare(module, name or function.__name__, function, capability)


def _declare(module, name, function, capability):
    """An adapter that the harness started has one function an op. Elsewhere (a test run that imports several adapters, a
    notebook whose cell runs again) each module has its own, and its later one is meant."""
    named = known(name)
    if _channel.harnessed:
        for own in _declared.values():
            if named in own and own[named][0] is not function:
                raise ValueError(_TWO % (named, own[named][0], function))
    _declared.setdefault(module, {})[named] = (function, capability)
    return function


def collected(ops, asking=None):
    """The decorated functions with those given to serve(ops=...) on top: {op: (function, capability)}.

    `asking`: the module whose own go before those of others. ValueError where two others have one each."""
    meant = dict(_declared.get(asking, {}))
    meant.update(given_ops(ops or {}))
    result = {}
    for own in _declared.values():
        for name, declared in own.items():
            other = result.get(name, declared)[0]
            if name not in meant and other is not declared[0]:
                raise ValueError(_TWO % (name, other, declared[0]) + "; say which is meant, as {%r: function}" % name)
            result[name] = declared
    result.update(meant)
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
