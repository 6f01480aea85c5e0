"""Literals: numbers and flags."""

import ast

from ._arithmetic import SMALL
from ._shared import number

# They say how something is computed or told, not what.
HOW = ("keepdim", "keepdims", "inplace", "non_blocking", "requires_grad", "copy", "verbose", "flush", "exist_ok")
HOW += ("stacklevel", "ndigits", "encoding", "errors", "dtype", "strict", "indent", "ensure_ascii", "frozen")
# A number here was changed by what is named after it.
TAKEN = ("dim", "axis", "ddof", "correction", "unbiased", "min", "max")
IGNORED = -100


def numbers(node, above):
    if isinstance(above, ast.keyword) and above.arg in HOW + TAKEN:
        return
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        if not isinstance(above, (ast.Call, ast.Compare)):
            yield "flag", node, str(not node.value)
        return
    value = number(node)
    if value is None or isinstance(above, (ast.Slice, ast.UnaryOp)):
        return
    if value == IGNORED:
        yield "ignored label", node, "0"
    elif isinstance(value, float) and 0 < abs(value) <= SMALL:
        yield "epsilon", node, "0.0"
        yield "epsilon", node, "1.0"
    elif isinstance(above, ast.BinOp) and (abs(value) == 1 or isinstance(above.op, ast.Pow)):
        return  # said of the whole sum
    elif isinstance(value, float):
        yield "constant", node, "1.0" if value == 0 else repr(value * 2)
    elif isinstance(above, ast.Call) and value in (-1, 0, 1):
        return  # an axis or a place, and mostly said of the call
    elif isinstance(above, ast.Subscript):
        if value in (0, -1):
            yield "shifted by one", node, "-1" if value == 0 else "0"
    elif value in (0, 1):
        yield "constant", node, str(1 - value)
    else:
        yield "constant", node, str(value + 1)
