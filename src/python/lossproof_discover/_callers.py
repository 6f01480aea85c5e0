"""What a function's callers hand over: whether logits and the tokens beside them are shifted, by a slice, `roll` or a name with `shift`.

Text alone, followed back within a function to where a name was assigned, and through those that only hand on. Calls are looked for in
the file of the function, then in the others that were read, then in those of its folder and package."""

import ast
import functools
import itertools
import os
import re

from ._read import MOST_BYTES, files_below

# Functions that hand on, one after the other.
_DEEP = 3
# Files of a package that are looked at for calls.
_MOST_FILES = 2_000
# Of a function that hands on, calls beside what was read.
_MOST_SITES = 5
# Called by their object, and not by their name.
_OF_MODULES = {"forward", "__call__", "__init__"}
_LATE, _EARLY = "logits", "ids"
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def handed(candidate, places, files):
    """{"shifts": whether some call does and none the wrong way, "call": the text of one that does not, or None where nothing calls it}.

    places: {"logits": parameter, "ids": parameter}; files: those that were read."""
    near = _neighbours(candidate.file, files)
    own = [path for path in files if path == candidate.file]
    others = [path for path in files if path != candidate.file]
    for paths in (own, others, near):
        text, shifts = None, False
        for site in _sites(_names(candidate, paths), paths, candidate.file):
            verdict = _shifted(site, candidate, places, _Files(files, near))
            if verdict is not True and (text is None or verdict is False):
                text = ast.unparse(site.call)[:300]
            if verdict is False:
                return {"shifts": False, "call": text}
            shifts = shifts or verdict is True
            if shifts and paths is near:
                break
        if shifts or text is not None:
            return {"shifts": shifts, "call": text}
    return {"shifts": False, "call": None}


class _Files:
    """Where calls of a function that hands on are looked for: in what was read, else beside it. And what is known of them by now."""

    def __init__(self, read, near):
        self._read, self._near, self.known = read, near, {}

    def sites(self, name, defined):
        found = list(_sites({name}, self._read, defined))
        return found or list(itertools.islice(_sites({name}, self._near, defined), _MOST_SITES))


class _Site:
    """A call, and what it stands in: a function, or the module."""

    def __init__(self, call, scope, path):
        self.call, self.scope, self.path = call, scope, path


def _names(candidate, paths):
    """What it is called by; of a class its objects."""
    name = candidate.name.rpartition(".")[2]
    if candidate.kind != "class":
        return {name}
    found = set()
    for path in paths:
        for node in ast.walk(_tree(path)) if _mentions(path, name) else ():
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _last(node.value.func) == name:
                found |= {_last(target) for target in node.targets}
    return found


def _sites(names, paths, defined):
    for path in paths:
        if not any(_mentions(path, name) for name in names) or not _is_training(path):
            continue
        tree = _tree(path)
        # Its name in another file may be another function's.
        if path != defined and any(isinstance(n, ast.FunctionDef) and n.name in names for n in tree.body):
            continue
        for call, scope in _calls(tree, tree):
            if _last(call.func) in names and (call.args or call.keywords) and getattr(scope, "name", None) not in names:
                yield _Site(call, scope, path)


def _is_training(path):
    """An adapter shifts because it was told to, and so does a test."""
    name = os.path.basename(path)
    return not name.startswith(("test_", "conftest")) and not name.endswith("_test.py") and not _mentions(path, "import lossproof")


def _calls(node, scope):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child, scope
        yield from _calls(child, child if isinstance(child, _FUNCTION) else scope)


def _within(scope):
    """What stands in it, functions in it aside."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, _FUNCTION):
            yield child
            yield from _within(child)


def _shifted(site, candidate, places, files):
    """True, None where nothing says so, False where it is the wrong way."""
    parameters = [parameter.name for parameter in candidate.parameters]
    marks = {place: _of_argument(site, parameters, name, place, files, _DEEP) for place, name in places.items()}
    # A slice the other way beside one that is right is the rest of the same thought: a row cut at both ends.
    if any("against" in each and "shifts" not in each for each in marks.values()):
        return False
    return True if any("shifts" in each for each in marks.values()) else None


def _of_argument(site, parameters, name, place, files, deep):
    given = {k.arg: k.value for k in site.call.keywords if k.arg}
    given = {**dict(zip(parameters, site.call.args)), **given}
    return _marks(given[name], site, place, files, deep, set()) if name in given else set()


def _marks(node, site, place, files, deep, seen):
    """{"shifts", "against"}: what an expression, and what the names in it stand for, say."""
    values = {name: list(_assigned(site, name)) for name in _followed(node, place) if name not in seen}
    seen |= set(values)
    found = _own_marks(node, place, {name for name, given in values.items() if given})
    for name, given in values.items():
        for value in given:
            found |= _marks(value, site, place, files, deep, seen)
        if deep > 0 and isinstance(site.scope, _FUNCTION):
            found |= _of_parameter(site, name, place, files, deep - 1)
    return found


def _of_parameter(site, name, place, files, deep):
    """What those hand over who call the function that hands on."""
    function = site.scope
    arguments = function.args
    parameters = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    if name not in parameters or function.name in _OF_MODULES:
        return set()
    key = (function, name, place)
    if key not in files.known:
        files.known[key] = set()
        skipped = parameters[1:] if parameters[0] in ("self", "cls") else parameters
        for other in files.sites(function.name, site.path):
            files.known[key] |= _of_argument(other, skipped, name, place, files, deep)
    return files.known[key]


def _assigned(site, name):
    """What a name was given before the call, in the same function; of `for` what it goes through."""
    for line, value in _assignments(site.scope).get(name, ()):
        if line <= site.call.end_lineno and not any(each is site.call for each in ast.walk(value)):
            yield value


@functools.lru_cache(maxsize=256)
def _assignments(scope):
    """{name: [(line, value)]}."""
    found = {}
    for node in _within(scope):
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, (ast.For, ast.comprehension)):
            pairs = [(node.target, node.iter)]
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and node.value is not None:
            pairs = [(node.target, node.value)]
        else:
            continue
        for target, value in pairs:
            for name, given in _values_for(target, value):
                found.setdefault(name, []).append((target.lineno, given))
    return found


def _values_for(target, value):
    """`a, b = x[1:], y` gives b what stands in its place; `for a, b in zip(x, y)` likewise."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, (ast.Tuple, ast.List)):
        inside = value.elts if isinstance(value, (ast.Tuple, ast.List)) else value.args if _is_call_of(value, "zip") else []
        for at, each in enumerate(target.elts):
            yield from _values_for(each, inside[at] if len(inside) == len(target.elts) else value)


def _followed(node, place):
    """Names that an expression is made of. A container that a field is taken out of says nothing of the field, but of logits."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Subscript):
        if place == _LATE or not isinstance(getattr(node.slice, "value", None), str):
            yield from _followed(node.value, place)
    elif isinstance(node, ast.Attribute):
        if place == _LATE:
            yield from _followed(node.value, place)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
            yield from _followed(node.func.value, place)
        for each in [*node.args, *(k.value for k in node.keywords)]:
            yield from _followed(each, place)
    elif isinstance(node, (ast.Tuple, ast.List, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Starred)):
        for each in ast.iter_child_nodes(node):
            yield from _followed(each, place)
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        for each in node.generators:
            yield from _followed(each.iter, place)


def _own_marks(node, place, known):
    """known: names that are followed to what they stand for, which says more than what they are called."""
    found, rolls = set(), set()
    for each in ast.walk(node):
        if isinstance(each, ast.Subscript):
            for part in each.slice.elts if isinstance(each.slice, ast.Tuple) else [each.slice]:
                found |= _of_slice(part, place) if isinstance(part, ast.Slice) else set()
        if _is_call_of(each, "roll"):
            rolls.add(each.func)
            found.add("against" if _is_backwards(each, place) else "shifts")
        elif each not in rolls and not (isinstance(each, ast.Name) and each.id in known):
            text = getattr(each, "id", None) or getattr(each, "attr", None) or getattr(each, "value", None)
            found |= {"shifts"} if _says_shift(text) else set()
    return found


def _of_slice(node, place):
    """The last row of logits says nothing of any token; the first token is said nothing of."""
    lower, upper = (None if end is None else ast.unparse(end).replace(" ", "") for end in (node.lower, node.upper))
    drops_first = lower is not None and re.search(r"(^|\+)1$", lower) is not None
    drops_last = upper is not None and re.search(r"-1$", upper) is not None
    if place == _LATE:
        return {"shifts"} if drops_last else {"against"} if drops_first and upper is None else set()
    return {"shifts"} if drops_first else {"against"} if drops_last and lower in (None, "0") else set()


def _is_backwards(call, place):
    """Tokens are rolled to the left, or logits to the right."""
    by = next((k.value for k in call.keywords if k.arg == "shifts"), None)
    at = 0 if isinstance(call.func, ast.Attribute) and not _is_module(call.func.value) else 1
    by = by if by is not None or len(call.args) <= at else call.args[at]
    text = "" if by is None else ast.unparse(by)
    return re.fullmatch(r"[0-9]+" if place == _EARLY else r"-\s*[0-9]+", text.strip("()[], ")) is not None


def _says_shift(name):
    words = re.split(r"[^a-z]+", name.lower()) if isinstance(name, str) and len(name) < 60 else []
    return any(word.startswith("shift") or word in ("roll", "rolled") for word in words)


def _is_module(node):
    return isinstance(node, ast.Name) and node.id in ("torch", "np", "numpy", "F", "jnp")


def _is_call_of(node, name):
    return isinstance(node, ast.Call) and _last(node.func) == name


def _last(node):
    return getattr(node, "attr", getattr(node, "id", None))


def _neighbours(path, read):
    """Files of its folder, and of its package: those of a library that were not named are its callers all the same."""
    folder = os.path.dirname(path)
    try:
        near = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".py")]
    except OSError:
        near = []
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    package = os.path.relpath(path, folder).split(os.sep)[0]
    wide = files_below([os.path.join(folder, package)])[0] if os.path.isdir(os.path.join(folder, package)) else []
    return [each for each in dict.fromkeys([*near, *wide]) if each not in read][:_MOST_FILES]


@functools.lru_cache(maxsize=4096)
def _mentions(path, name):
    try:
        if os.path.getsize(path) > MOST_BYTES:
            return False
        with open(path, "rb") as source:
            return name.encode() in source.read()
    except OSError:
        return False


@functools.lru_cache(maxsize=32)
def _tree(path):
    try:
        with open(path, "rb") as source:
            return ast.parse(source.read(), path)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module(body=[], type_ignores=[])
