"""Sums, products and their signs."""

import ast

from ._shared import EPSILONS, MASKS, grouped, is_called, is_text, name_of, number, text


def arithmetic(node, above):
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and number(node) is None:
        yield "sign", node, text(node.operand)
    if not isinstance(node, (ast.BinOp, ast.AugAssign)):
        return
    if isinstance(node, ast.AugAssign):
        yield from _in_place(node)
        return
    left, right = text(node.left), text(node.right)
    if isinstance(node.op, (ast.Add, ast.Sub)):
        yield from _sum(node, left, right, above)
    elif isinstance(node.op, ast.Mult):
        yield from _product(node, left, right)
    elif isinstance(node.op, (ast.Div, ast.FloorDiv)):
        yield ("temperature dropped" if is_called(node.right, ["temperature"]) else "denominator dropped"), node, left
    elif isinstance(node.op, ast.BitAnd):
        # Each alone: of two masks one is forgotten.
        yield "mask dropped", node, left
        yield "mask dropped", node, right
    elif isinstance(node.op, ast.BitOr):
        yield "logic", node, "%s & %s" % (grouped(node.left), grouped(node.right))
    elif isinstance(node.op, ast.Pow) and number(node.right) == 2:
        yield "constant", node.right, "1"


def _sum(node, left, right, above):
    if is_text(node):
        return
    adds = isinstance(node.op, ast.Add)
    if number(node.right) == 1:
        # The kinds of rows say it of slices and ranges.
        if not isinstance(above, ast.Slice):
            yield "shifted by one", node, left
        return
    if is_called(node.right, EPSILONS) and number(node.left) != 1:
        yield "epsilon", node, left
        return
    if number(node.left) == 1:
        kind = "clip bound" if is_called(node.right, EPSILONS + ("clip", "low", "high")) else "sign"
        yield kind, node, "%s %s %s" % (left, "-" if adds else "+", grouped(node.right))
        return
    if number(node.right) is not None and abs(number(node.right)) <= SMALL:
        return  # a literal epsilon, of which the kinds of numbers know
    if adds:
        yield "sign", node, "%s - %s" % (grouped(node.left), grouped(node.right))
    elif not _is_even(above):
        yield "operands swapped", node, "%s - %s" % (grouped(node.right), grouped(node.left))


def _is_even(above):
    """Whether the sign is lost at once."""
    if isinstance(above, ast.BinOp) and isinstance(above.op, ast.Pow):
        return number(above.right) == 2
    return isinstance(above, ast.Call) and name_of(above) in ("abs", "square", "cos")


def _product(node, left, right):
    if is_text(node):
        return
    for own, other in ((node.left, right), (node.right, left)):
        if is_called(own, ["temperature"]):
            yield "temperature dropped", node, other
            return
        if is_called(own, MASKS):
            yield "mask dropped", node, other
            return
    if number(node.left) is None and number(node.right) is None:
        yield "factor dropped", node, left
        if left != right:
            yield "factor dropped", node, right


def _in_place(node):
    if is_text(node.value):
        return
    target, value = text(node.target), grouped(node.value)
    if isinstance(node.op, (ast.Add, ast.Sub)):
        other = "-" if isinstance(node.op, ast.Add) else "+"
        yield "sign", node, "%s %s= %s" % (target, other, value)
        yield "not accumulated", node, "%s = %s%s" % (target, "-" if other == "+" else "", value)
    elif isinstance(node.op, (ast.Mult, ast.Div)):
        kind = "temperature dropped" if is_called(node.value, ["temperature"]) else "factor dropped"
        yield ("mask dropped" if is_called(node.value, MASKS) else kind), node, "pass"


SMALL = 1e-3  # a number that is added and no larger keeps a division from 0
