"""Where a row begins and ends: slices, offsets, ranges."""

import ast

from ._shared import grouped, number, text


def rows(node, _):
    if isinstance(node, ast.Slice):
        yield from _slice(node)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("range", "arange"):
        yield from _range(node)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "arange":
        yield from _range(node)


def _slice(node):
    lower, upper = (text(each) if each else "" for each in (node.lower, node.upper))
    step = ":" + text(node.step) if node.step else ""
    if node.lower is not None:
        moved = _without_one(node.lower) or "%s + 1" % grouped(node.lower)
        yield "shifted by one", node, "%s:%s%s" % (moved if moved != "0" else "", upper, step)
    if node.upper is not None:
        yield "slice end", node, "%s:%s" % (lower, step)
        if number(node.upper) is None:
            moved = _without_one(node.upper) or "%s - 1" % grouped(node.upper)
            yield "shifted by one", node, "%s:%s%s" % (lower, moved, step)


def _without_one(node):
    """`n` of `n + 1`, `n - 1` and `0` of `1`; None where there is no one to leave out."""
    if number(node) == 1:
        return "0"
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and number(node.right) == 1:
        return text(node.left)
    return None


def _range(node):
    if not node.args or len(node.args) > 3 or isinstance(node.args[0], ast.Starred):
        return
    if len(node.args) > 1:
        begin = node.args[0]
        if number(begin) != 0:
            yield "shifted by one", begin, _without_one(begin) or "%s - 1" % grouped(begin)
        else:
            yield "shifted by one", begin, "1"
    end = node.args[0] if len(node.args) == 1 else node.args[1]
    yield "shifted by one", end, _without_one(end) or "%s - 1" % grouped(end)
