"""The changes of one file: where each stands, what the line is then, and the whole text of the file with it.

A change is spliced into the source and not written from the tree, so that what is shown is the line as it would be typed, and
every other line keeps its number.
"""

import ast
import hashlib

from .kinds import BUGS, KINDS

# Statements that tell and do not compute: whoever calls one of these by name only writes something down.
TELLING = ("print", "warn", "warning", "info", "debug", "error", "exception", "log", "log_once", "warning_once")
TELLERS = ("logger", "logging", "warnings", "wandb", "tqdm", "console", "writer")
SILENT = ("__repr__", "__str__")
SHOWN = 400  # characters of a line that is shown
ID_CHARACTERS = 10


class Unread(Exception):
    """A source that is no Python of this version; the sentence says where it stops being it."""


def changes_of(text, shown):
    """Every change of this text, in its order; `shown` is what the file is called. Raises Unread."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise Unread("%s%s does not parse: %s" % (shown, "" if line is None else ":%d" % line, getattr(error, "msg", error)))
    source = _Source(text, shown)
    source.name(tree)
    found = {}
    for kind, node, instead, place in _Walk().of(tree):
        change = source.change(kind, node, instead, place)
        if change is not None:
            found.setdefault((change["from"], change["to"], change["instead"]), change)
    changes = sorted(found.values(), key=lambda change: (change["from"], change["to"]))
    return [change for change in changes if source.is_python(change)]


def changed(text, change):
    """The text with this change of it; as many lines as before."""
    begin, end, instead = change["from"], change["to"], change["instead"]
    pad = "\n" * (text.count("\n", begin, end) - instead.count("\n"))
    # Inside of the brackets, where a line may end anywhere.
    instead = instead[:-1] + pad + ")" if instead.endswith(")") else instead + pad
    return text[:begin] + instead + text[end:]


class _Place:
    """Where the walk is: in which function, on which lines that run with it, and whether a live function can take it."""

    def __init__(self, function=None, lines=None, default=False, owner="", within=None):
        self.function = function  # its qualified name, as the interpreter has it
        self.lines = lines
        self.default = default
        self.owner = owner  # what names behind it begin with
        self.within = within  # first and last line of the outermost function

    def on(self, first, last):
        return _Place(self.function, (first, last), self.default, self.owner, self.within)


class _Walk:
    def of(self, tree):
        yield from self._block(tree.body, _Place())

    def _block(self, body, place):
        for statement in body:
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not is_text:
                yield from self._statement(statement, place)

    def _statement(self, node, place):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from self._function(node, place)
        elif isinstance(node, ast.ClassDef):
            yield from self._block(node.body, _Place(owner=place.owner + node.name + "."))
        elif not _is_telling(node):
            yield from self._inside(node, place)

    def _function(self, node, place):
        if node.name in SILENT:
            return
        first = node.body[0].lineno
        lines = (first, node.end_lineno)
        name, within = place.owner + node.name, (node.lineno, node.end_lineno)
        if place.function is None:
            for default in [*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)]:
                yield from self._expression(default, node.args, _Place(name, lines, True, within=within))
            yield from self._block(node.body, _Place(name, owner=name + ".<locals>.", within=within))
        else:
            # Its code is made by the one around it; a change of either is one of the outer.
            yield from self._block(node.body, _Place(place.function, owner=name + ".<locals>.", within=place.within))

    def _inside(self, node, place):
        """The statement, what stands in its head, and its blocks."""
        blocks = [name for name in ("body", "orelse", "finalbody") if isinstance(getattr(node, name, None), list)]
        handlers = [*getattr(node, "handlers", []), *getattr(node, "cases", [])]
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
        here = place.on(node.lineno, max(node.lineno, last))
        if not (isinstance(node, ast.If) and (_ends_in_telling(node) or _is_main(node.test))):
            yield from self._kinds(node, None, here)
            for name, value in ast.iter_fields(node):
                if name in blocks or name in ("handlers", "cases", "annotation", "returns", "type_params"):
                    continue
                for each in value if isinstance(value, list) else [value]:
                    if isinstance(each, ast.withitem):
                        yield from self._expression(each.context_expr, each, here)
                    elif isinstance(each, ast.expr):
                        yield from self._expression(each, node, here)
        if isinstance(node, ast.If) and _is_main(node.test):
            return
        for name in blocks:
            yield from self._block(getattr(node, name), place)
        for handler in handlers:
            yield from self._block(handler.body, place)

    def _expression(self, node, above, place):
        if isinstance(node, ast.JoinedStr) or isinstance(node, ast.Call) and _tells(node):
            return
        yield from self._kinds(node, above, place)
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.keyword):
                yield from self._expression(child.value, child, place)
            elif isinstance(child, ast.comprehension):
                for part in (child.iter, *child.ifs):
                    yield from self._expression(part, child, place)
            elif isinstance(child, (ast.expr, ast.Slice)):
                yield from self._expression(child, node, place)

    def _kinds(self, node, above, place):
        for kind in KINDS:
            for name, changed, instead in kind(node, above):
                yield name, changed, instead, place


def _is_telling(node):
    if isinstance(node, (ast.Raise, ast.Assert, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Pass)):
        return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _tells(node.value)


def _tells(call):
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in TELLING
    # `self.log` of a trainer; `x.log()` is a logarithm.
    if _is_own(function) and function.attr in TELLING:
        return True
    while isinstance(function, (ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(function, ast.Attribute) and "metric" in function.attr:
            return True
        function = function.func if isinstance(function, ast.Call) else function.value
    return isinstance(function, ast.Name) and function.id in TELLERS


def _is_own(function):
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self"


def _ends_in_telling(node):
    """An `if` of which no branch computes anything: what it asks is whether to complain."""
    return all(_is_telling(statement) for statement in [*node.body, *node.orelse])


def _is_main(test):
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


class _Source:
    def __init__(self, text, shown):
        self.text, self.shown = text, shown
        self.lines = [line + "\n" for line in text.split("\n")]  # a form feed ends no line of Python
        self.starts, at = [], 0
        for line in self.lines:
            self.starts.append(at)
            at += len(line)

    def at(self, line, column):
        """Of a place that `ast` counts in bytes."""
        text = self.lines[line - 1]
        return self.starts[line - 1] + (column if text.isascii() else len(text.encode()[:column].decode()))

    def name(self, tree):
        """Each expression is told its text."""
        for node in ast.walk(tree):
            if isinstance(node, ast.expr) and getattr(node, "end_col_offset", None) is not None:
                begin, end = self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)
                node.text = self.text[begin:end]

    def change(self, kind, node, instead, place):
        begin = self.at(node.lineno, node.col_offset)
        end = self.at(node.end_lineno, node.end_col_offset)
        before = self.text[begin:end]
        inside = self.text[begin - 1 : begin] == "(" and self.text[end : end + 1] == ")"
        if isinstance(node, ast.expr) and not isinstance(node, ast.Slice) and not inside and not _is_atom(instead):
            instead = "(%s)" % instead
        if before == instead:
            return None
        first, last = node.lineno, node.end_lineno
        line = self.starts[first - 1]
        stop = self.starts[last] if last < len(self.starts) else len(self.text)
        lines = place.lines or (first, last)
        key = "%s %s %d %s" % (self.shown, kind, begin, instead)
        return {
            "id": hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:ID_CHARACTERS],
            "line": first,
            "kind": kind,
            "function": place.function or "",
            "before": self.text[line:stop].strip()[:SHOWN],
            "after": (self.text[line:begin] + instead + self.text[end:stop]).strip()[:SHOWN],
            "lines": list(lines),
            "bugs": BUGS.get(kind, []),
            "default": place.default,
            "within": place.within,
            "from": begin,
            "to": end,
            "instead": instead,
        }

    def is_python(self, change):
        """Whether the function, or where there is none the file, can be read with the change."""
        first, last = change.pop("within") or (1, len(self.lines))
        begin, end = self.starts[first - 1], self.starts[last] if last < len(self.starts) else len(self.text)
        moved = dict(change, **{"from": change["from"] - begin, "to": change["to"] - begin})
        text = changed(self.text[begin:end], moved)
        try:
            ast.parse("if 1:\n" + text if text[:1].isspace() else text)
        except (SyntaxError, ValueError):
            return False
        return True


def _is_atom(text):
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        return True  # a slice, a statement
    return isinstance(tree, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Tuple))
