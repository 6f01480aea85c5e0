"""Whole statements that are forgotten."""

import ast

from ._shared import MASKS, is_called, name_of


def statements(node, _):
    if isinstance(node, ast.Break):
        yield "loop not left", node, "pass"
    elif isinstance(node, ast.Continue):
        yield "row not skipped", node, "pass"
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        kind = "mask dropped" if is_called(node.targets[0], MASKS) else "write dropped"
        yield kind, node, "pass"
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        name = name_of(node.value)
        if isinstance(node.value.func, ast.Attribute) and name.endswith("_") and not name.endswith("__"):
            yield "write dropped", node, "pass"
