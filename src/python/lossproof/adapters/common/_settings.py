"""What an adapter is told by variables and by requests, and what it declares of it."""

import os

from ... import Reject
from ._tiny import stop


def chosen(variable, table):
    """The name in this table that the variable holds; where it is not set, the first."""
    name = os.environ.get(variable) or next(iter(table))
    return name if name in table else stop("%s is one of %s" % (variable, ", ".join(table)))


def within(settings, knobs):
    """The settings of a request as a dict; a Reject where one of them is no knob."""
    unknown = [name for name in settings or {} if name not in knobs]
    if unknown:
        raise Reject("no setting %s; there are %s" % (unknown[0], ", ".join(knobs)))
    return dict(settings or {})


def declared(semantics, rows):
    """These semantics and what the chosen row of each table says beside; formulas of their own are those of all rows."""
    every = [semantics, *rows]
    own = sorted(name for row in every for name in row.get("own_formulas", ()))
    return {**{name: value for row in every for name, value in row.items()}, "own_formulas": own}
