"""Conditions: what is compared, and how several are joined."""

import ast

from ._shared import grouped, name_of, text

COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
}


def logic(node, _):
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        other = COMPARISONS[type(node.ops[0])]
        yield "comparison", node, "%s %s %s" % (grouped(node.left), other, grouped(node.comparators[0]))
    elif isinstance(node, ast.BoolOp):
        other = " or " if isinstance(node.op, ast.And) else " and "
        yield "logic", node, other.join(grouped(value) for value in node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield "logic", node, "bool(%s)" % text(node.operand)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        yield "mask inverted", node, text(node.operand)
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)) and name_of(node.test):
        yield "condition", node.test, "not %s" % text(node.test)
