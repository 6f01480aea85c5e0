"""Names that statements read before they set them: what a stretch takes from the code before it."""

import ast

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def read_first(statements):
    """The names whose first occurrence, in the order of evaluation, is a read. Branches count as if taken in turn."""
    seen = {}  # name: whether it was read first
    for statement in statements:
        _visit(statement, seen, frozenset())
    return [name for name, read in seen.items() if read]


def _visit(node, seen, hidden):
    if isinstance(node, ast.Name):
        if node.id not in hidden:
            seen.setdefault(node.id, isinstance(node.ctx, ast.Load))
    elif isinstance(node, ast.AugAssign):
        if isinstance(node.target, ast.Name):
            seen.setdefault(node.target.id, True)
        _all(seen, hidden, node.target, node.value)
    elif isinstance(node, ast.Assign):
        _all(seen, hidden, node.value, *node.targets)
    elif isinstance(node, ast.NamedExpr):
        _all(seen, hidden, node.value, node.target)
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        _all(seen, hidden, node.iter, node.target, *node.body, *node.orelse)
    elif isinstance(node, COMPREHENSIONS):
        own = {each.id for part in node.generators for each in ast.walk(part.target) if isinstance(each, ast.Name)}
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        _all(seen, hidden | own, *node.generators, *parts)
    elif isinstance(node, SCOPES):
        if hasattr(node, "name"):
            seen.setdefault(node.name, False)  # what is inside runs later
    else:
        _all(seen, hidden, *ast.iter_child_nodes(node))


def _all(seen, hidden, *nodes):
    for node in nodes:
        _visit(node, seen, hidden)
