"""What the kinds ask of a node."""

import ast

# Words in a name by which people say what stands behind it.
MASKS = ("mask", "valid", "is_real", "real")
EPSILONS = ("eps", "epsilon")


def name_of(node):
    """The last name of `a`, `b.a`, `b.a()`; '' of anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def is_called(node, words):
    """Whether some name inside of this expression has one of the words."""
    for each in ast.walk(node):
        name = name_of(each).lower()
        if name and any(word == name or word in name.split("_") for word in words):
            return True
    return False


def number(node):
    """The value of a literal number, its sign included; None of anything else. True is no number."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return None if value is None else -value
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    return None


def text(node):
    """As it stands in the source, without brackets around it."""
    return getattr(node, "text", None) or ast.unparse(node)


def is_text(node):
    """Whether this is surely a string or a list, of which a sum or a comparison means another thing."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (str, bytes))
    if isinstance(node, ast.BinOp):
        return is_text(node.left) or is_text(node.right)
    return isinstance(node, (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp, ast.Dict, ast.Set))


def grouped(node):
    """Its text, in brackets where it is no name, number or call."""
    if isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.GeneratorExp)):
        return text(node)
    return "(%s)" % text(node)
