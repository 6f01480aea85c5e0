"""Calls by their names: reductions, clips, masks, gradients, and special ids."""

import ast

from ._shared import MASKS, grouped, is_called, name_of, number, text

REDUCTIONS = ("mean", "sum", "max", "min", "amax", "amin", "softmax", "log_softmax", "logsumexp", "std", "var")
REDUCTIONS += ("cumsum", "argmax", "argmin", "nanmean", "nansum", "any", "all", "flip", "prod")
INSTEAD = {
    "mean": ("sum for mean", "sum"),
    "nanmean": ("sum for mean", "nansum"),
    "max": ("min for max", "min"),
    "min": ("min for max", "max"),
    "amax": ("min for max", "amin"),
    "amin": ("min for max", "amax"),
    "maximum": ("min for max", "minimum"),
    "minimum": ("min for max", "maximum"),
    "stdev": ("ddof", "pstdev"),
    "pstdev": ("ddof", "stdev"),
    "variance": ("ddof", "pvariance"),
    "pvariance": ("ddof", "variance"),
    "any": ("logic", "all"),
    "all": ("logic", "any"),
}
DDOF = ("ddof", "correction")
SPECIAL = {"pad_token_id": "eos_token_id", "eos_token_id": "pad_token_id"}


def calls(node, above):
    if isinstance(node, ast.Attribute) and node.attr in SPECIAL and isinstance(node.ctx, ast.Load):
        yield "eos for pad", node, "%s.%s" % (grouped(node.value), SPECIAL[node.attr])
    if not isinstance(node, ast.Call):
        return
    name = name_of(node)
    method = isinstance(node.func, ast.Attribute)
    if name in INSTEAD:
        kind, other = INSTEAD[name]
        yield kind, node.func, "%s.%s" % (grouped(node.func.value), other) if method else other
    if method and name == "sum" and (node.args or node.keywords):
        yield "sum for mean", node.func, "%s.mean" % grouped(node.func.value)
    if name in REDUCTIONS:
        yield from _axis(node, method)
    if name in ("clamp", "clip", "clamp_") and (node.args or node.keywords):
        yield from _clip(node, method)
    if method and name in ("masked_fill", "masked_fill_") and len(node.args) == 2:
        yield "mask dropped", node, text(node.func.value)
    if name == "where" and len(node.args) == 3:
        yield "mask dropped", node, text(node.args[1])
        yield "mask dropped", node, text(node.args[2])
    if method and name == "detach" and not node.args:
        yield "detach dropped", node, text(node.func.value)
    if name == "exp" and not (isinstance(above, ast.Attribute) and above.attr == "detach"):
        if method and not isinstance(node.func.value, ast.Name) or _torch(node):
            yield "detach added", node, "%s.detach()" % text(node)
    yield from _keywords(node)


def _torch(node):
    return isinstance(node.func, ast.Attribute) and name_of(node.func.value) == "torch"


def _axis(node, method):
    """The first whole number, by name or by place, moved to the axis beside it."""
    for keyword in node.keywords:
        if keyword.arg in ("dim", "axis") and number(keyword.value) in (-1, 0, 1):
            yield "other axis", keyword.value, "0" if number(keyword.value) else "-1"
    behind = node.args[1:2] if _torch(node) else node.args[:1]
    for place in behind if method else []:
        if type(number(place)) is int and number(place) in (-1, 0, 1):
            yield "other axis", place, "0" if number(place) else "-1"


def _clip(node, method):
    torch = _torch(node) or not method
    bounds = [keyword for keyword in node.keywords if keyword.arg in ("min", "max")]
    places = node.args[1 if torch else 0 :]
    if len(bounds) + len(places) == 1:
        value = text(node.args[0] if torch and node.args else node.func)
        yield "clip bound", node, value if torch else text(node.func.value)
        return
    for keyword in bounds:
        yield "clip bound", keyword.value, "None"
    for place in places:
        yield "clip bound", place, "None"


def _keywords(node):
    for keyword in node.keywords:
        value = number(keyword.value)
        if keyword.arg in DDOF and value in (0, 1):
            yield "ddof", keyword.value, str(1 - value)
        elif keyword.arg == "unbiased" and isinstance(keyword.value, ast.Constant):
            yield "ddof", keyword.value, str(not keyword.value.value)
        elif keyword.arg is not None and is_called(ast.Name(keyword.arg), MASKS) and not number(keyword.value):
            if not isinstance(keyword.value, ast.Constant):
                yield "mask dropped", keyword.value, "None"
