"""A file as functions: names, parameters, defaults, what they compare and return. Nothing is imported."""

import ast
import os
import re
from dataclasses import dataclass, field

# Larger ones are generated, or data.
MOST_BYTES = 2_000_000
MOST_FILES = 2_000
_OF_TENSORS = {"exp", "clamp", "log_softmax", "gather", "unsqueeze", "masked_fill", "cumsum", "detach"}
# What is returned is called as it was before these.
_SAME_NUMBERS = {"to", "float", "long", "int", "bool", "double", "detach", "contiguous", "cpu", "clone", "tolist", "numpy"}
_OF_ITS_ARGUMENT = {"tensor", "as_tensor", "from_numpy", "LongTensor", "FloatTensor", "array", "asarray", "stack", "cat", "list"}
_NOT_OURS = {"node_modules", "__pycache__", "site-packages", "build", "dist", "tests", "test"}
# A word at the front of an annotation that no array has.
_PLAIN = {"int", "float", "str", "bool", "Literal", "dict", "Callable"}


@dataclass
class Parameter:
    name: str
    # Its source text, None where there is none.
    default: object = None
    kind: str = "any"  # int, float, str, bool, none, any: what default or annotation say
    annotation: str = ""
    # Strings that it is compared with, in order.
    choices: list = field(default_factory=list)
    # `x.clip_ratio`: names below it that are read, and how: "attribute", "mapping".
    attributes: dict = field(default_factory=dict)
    # It is used as true or false: `~mask`, `x[mask]`, `torch.where(mask, ...)`, `x.masked_fill(mask, ...)`.
    is_boolean: bool = False


@dataclass
class Candidate:
    file: str
    name: str  # with its class
    line: int
    kind: str  # function, static, method, class
    parameters: list = field(default_factory=list)
    made_with: list = field(default_factory=list)  # parameters of the constructor
    returned: list = field(default_factory=list)  # names of what is returned, element by element; or keys
    of_self: dict = field(default_factory=dict)
    document: str = ""


def files_below(paths):
    """(files, complaints): Python files of the paths, folders gone through, tests and what is installed left out."""
    found, wrong = [], []
    for path in paths:
        if os.path.isfile(path):
            found.append(os.path.abspath(path))
        elif os.path.isdir(path):
            for folder, folders, names in os.walk(path):
                folders[:] = sorted(f for f in folders if f not in _NOT_OURS and not f.startswith((".", "venv", "env")))
                found += [os.path.abspath(os.path.join(folder, n)) for n in sorted(names) if n.endswith(".py")]
                if len(found) > MOST_FILES:
                    wrong.append((path, "more than %d files; name the folder that has the losses" % MOST_FILES))
                    break
        else:
            wrong.append((path, "there is no such file or folder"))
    return list(dict.fromkeys(found))[:MOST_FILES], wrong


def read(path):
    """(candidates, libraries that are imported); SyntaxError, OSError, ValueError say why not."""
    if os.path.getsize(path) > MOST_BYTES:
        raise ValueError("larger than %d bytes" % MOST_BYTES)
    with open(path, "rb") as source:
        tree = ast.parse(source.read(), path)
    found = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.append(_function(path, node, node.name, "function"))
        elif isinstance(node, ast.ClassDef):
            found += _of_class(path, node)
    found = [each for each in found if each is not None]
    _share_choices(found)
    return found, _imported(tree)


def _share_choices(found):
    """A mode that is handed on is compared with its names elsewhere in the file."""
    known = {}
    for each in found:
        for parameter in each.parameters + each.made_with:
            known.setdefault(parameter.name, []).extend(parameter.choices)
    for each in found:
        for parameter in each.parameters + each.made_with:
            parameter.choices = list(dict.fromkeys(parameter.choices + known[parameter.name]))


def _of_class(path, node):
    methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}
    made_with = _parameters(methods["__init__"], skip=1) if "__init__" in methods else []
    for name in ("forward", "__call__"):
        if name in methods:
            one = _function(path, methods[name], node.name, "class", skip=1)
            if one is not None:
                one.line, one.made_with = node.lineno, made_with
                yield one
    for name, method in methods.items():
        if name.startswith("__") or name in ("forward", "backward"):
            continue
        decorated = [ast.unparse(d) for d in method.decorator_list]
        if any(d.endswith(("property", "setter", "abstractmethod")) for d in decorated):
            continue
        is_static = "staticmethod" in decorated
        one = _function(path, method, node.name + "." + name, "static" if is_static else "method", skip=0 if is_static else 1)
        if one is None or "classmethod" in decorated:
            continue
        one.made_with = made_with
        if not is_static and method.args.args:
            one.of_self = _attributes(method, method.args.args[0].arg)
        yield one


def _function(path, node, name, kind, skip=0):
    if isinstance(node, ast.AsyncFunctionDef) or any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in ast.walk(node)):
        return None
    parameters = _parameters(node, skip)
    if not any(isinstance(n, ast.Return) and n.value is not None for n in ast.walk(node)):
        return None
    text = (ast.get_docstring(node) or "").strip().split("\n")[0][:200]
    return Candidate(path, name, node.lineno, kind, parameters, returned=_returned(node), document=text)


def _parameters(node, skip):
    a = node.args
    plain = (a.posonlyargs + a.args)[skip:]
    defaults = [None] * (len(plain) - len(a.defaults)) + list(a.defaults[-len(plain) :] if plain else [])
    pairs = list(zip(plain, defaults)) + list(zip(a.kwonlyargs, a.kw_defaults))
    return [_parameter(node, argument, default) for argument, default in pairs]


def _parameter(node, argument, default):
    annotation = "" if argument.annotation is None else ast.unparse(argument.annotation)
    one = Parameter(argument.arg, None if default is None else ast.unparse(default), annotation=annotation)
    value = getattr(default, "value", None) if isinstance(default, ast.Constant) else None
    said = [t for t in re.findall(r"\w+", annotation) if t not in ("Optional", "Union", "None", "typing")]
    bare = said[0] if said and (len(said) == 1 or said[0] in ("Literal", "dict", "Callable")) else ""
    if re.search(r"\b([Ll]ist|Sequence|Iterable|[Tt]uple|Tensor|ndarray)\b", annotation):
        one.kind = "any"
    elif isinstance(value, (bool, int, float, str)):
        one.kind = type(value).__name__
    elif bare in _PLAIN and "ensor" not in annotation and "rray" not in annotation:
        one.kind = bare if bare in ("int", "float", "str", "bool") else "other"
    one.choices = _choices(node, argument.arg)
    one.attributes = _attributes(node, argument.arg)
    one.is_boolean = "BoolTensor" in annotation or _is_boolean(node, argument.arg)
    return one


_TAKE_BOOLEANS = {"where", "masked_fill", "masked_fill_", "masked_select", "masked_scatter", "logical_not"}


def _is_boolean(node, name):
    """Whether a tensor of this name is used as one of true and false."""

    def is_it(each):
        return isinstance(each, ast.Name) and each.id == name

    for each in ast.walk(node):
        if isinstance(each, ast.UnaryOp) and isinstance(each.op, ast.Invert) and is_it(each.operand):
            return True
        if isinstance(each, ast.Subscript) and is_it(each.slice):
            return True
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _TAKE_BOOLEANS:
            if any(is_it(argument) for argument in each.args[:1]):
                return True
    return False


def _choices(node, name):
    """Strings that a name is compared with."""
    found = []
    for each in ast.walk(node):
        if not isinstance(each, ast.Compare) or not isinstance(each.left, ast.Name) or each.left.id != name:
            continue
        for other in each.comparators:
            inside = other.elts if isinstance(other, (ast.Tuple, ast.List, ast.Set)) else [other]
            found += [n.value for n in inside if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return list(dict.fromkeys(found))


def _attributes(node, name):
    """{"clip_ratio": "attribute", "global_batch_info": "mapping", "cfg.eps": ...}; called ones, but for `get`, are "call"."""
    found, called, spread = {}, set(), set()
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            called.add(_chain(each.func, name))
            spread |= {_chain(k.value, name) for k in each.keywords if k.arg is None}
    for each in ast.walk(node):
        chain = _chain(each, name)
        if not chain or chain.endswith(".get") or chain == "get":
            continue
        found[chain] = "call" if chain in called else "mapping" if chain in spread else "attribute"
    longest = [c for c in found if not any(other.startswith(c + ".") for other in found)]
    return {c: found[c] for c in longest}


def _chain(node, name):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed(parts)) if parts and isinstance(node, ast.Name) and node.id == name else ""


def _returned(node):
    """Names of the elements of the last returned tuple, or keys of the dict."""
    last = [n for n in ast.walk(node) if isinstance(n, ast.Return) and n.value is not None]
    value = max(last, key=lambda n: n.lineno).value if last else None
    if isinstance(value, ast.Tuple):
        return [_name_of(each) for each in value.elts]
    if isinstance(value, ast.Dict):
        return [k.value for k in value.keys if isinstance(k, ast.Constant) and isinstance(k.value, str)]
    return [value.id] if isinstance(value, ast.Name) else []


def _name_of(node):
    """`advantages`, and likewise of `self.advantages`, `torch.stack(advantages)`, `advantages.float()`; "" where it has none."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if not isinstance(node, ast.Call):
        return ""
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if called in _SAME_NUMBERS and isinstance(node.func, ast.Attribute):
        return _name_of(node.func.value)
    return _name_of(node.args[0]) if node.args and (called in _OF_ITS_ARGUMENT or "pad" in called) else ""


def _imported(tree):
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    if not names & {"torch", "numpy"} and any(_is_of_tensors(n, names) for n in ast.walk(tree)):
        names.add("torch")  # handed tensors by those who import it
    return names


def _is_of_tensors(node, modules):
    """`difference.exp`, and not `math.exp`."""
    if not isinstance(node, ast.Attribute) or node.attr not in _OF_TENSORS:
        return False
    return not (isinstance(node.value, ast.Name) and node.value.id in modules)
