"""Whether a stretch can stand alone: it jumps nowhere outside of itself, and every name that it reads comes from somewhere."""

import ast
import builtins
import symtable

from ._order import read_first
from ._text import SliceError

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)


def check_flow(source, body, returns):
    """A SliceError for what leaves the stretch, or makes it another kind of function."""
    seen = []
    for statement in body:
        _walk(source, statement, False, seen)
    for line, kind in seen:
        if kind == "return" and not returns:
            raise _refused(source, line, 'returns', 'end before it, or say outputs="return"')
    if returns and "return" not in [kind for _, kind in seen]:
        raise SliceError('%s: outputs="return", but the stretch has no return' % source.path)


def _refused(source, line, does, instead):
    return SliceError("%s: %s, %s: %s" % (source.path, source.shown(line), does, instead))


def _walk(source, node, in_loop, seen):
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.Return):
        seen.append((line, "return"))
    elif isinstance(node, (ast.Yield, ast.YieldFrom)):
        raise _refused(source, line, "yields", "call the generator itself, or end the stretch before it")
    elif isinstance(node, (ast.Await, ast.AsyncFor, ast.AsyncWith)):
        raise _refused(source, line, "awaits", "cut a stretch without it")
    elif isinstance(node, ast.Nonlocal):
        raise _refused(source, line, "names a variable of the function around it", "cut the stretch from that function")
    elif isinstance(node, (ast.Continue, ast.Break)) and not in_loop:
        word = "continues" if isinstance(node, ast.Continue) else "breaks"
        does = word + " a loop that begins before the stretch"
        raise _refused(source, line, does, "begin with that loop, or end before this")
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
        raise _refused(source, line, "calls super(), which works in the method alone", "cut a stretch without it")
    if isinstance(node, SCOPES):
        return  # what a function of its own does is its own affair
    if isinstance(node, LOOPS):
        for child in [node.target, node.iter] if hasattr(node, "iter") else [node.test]:
            _walk(source, child, in_loop, seen)
        for child in node.body:
            _walk(source, child, True, seen)
        for child in node.orelse:
            _walk(source, child, in_loop, seen)
        return
    for child in ast.iter_child_nodes(node):
        _walk(source, child, in_loop, seen)


class _Bare(ast.NodeTransformer):
    """Annotations of local variables are never evaluated; those of local functions tell nobody anything."""

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_ClassDef(self, node):
        return node  # where they are evaluated, and may be fields

    def _function(self, node):
        self.generic_visit(node)
        node.returns = None
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        for argument in every:
            if argument is not None:
                argument.annotation = None
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function


def without_annotations(statement):
    return _Bare().visit(statement)


def check_names(source, node, made, where, first, last, inputs, outputs, space):
    """Names read from outside of the function `made` must be in the namespace; outputs must be set, or come in."""
    read, bound = _scopes(made)
    for name in outputs:
        if name not in bound:
            they = ", ".join(sorted(bound - set(inputs))) or "nothing"
            raise SliceError(
                "%s: lines %d to %d of %s set no %s; they set %s" % (source.path, first, last, where, name, they)
            )
    early = [name for name in read_first(made.body) if name in bound and name not in inputs]
    missing = early + sorted(name for name in read - set(space) if not hasattr(builtins, name))
    if not missing:
        return
    here = {*early, *([] if isinstance(node, ast.Module) else _bound_in(node))}
    local = [name for name in missing if name in here]
    outside = [name for name in missing if name not in here]
    said = []
    if local:
        said.append("%s of %s: add to inputs" % (", ".join(local), where))
    if outside:
        origins = _imports(source.tree)
        named = ["%s (%s)" % (name, origins[name]) if name in origins else name for name in outside]
        said.append("%s of the file: give in namespace" % ", ".join(named))
    raise SliceError("%s: lines %d to %d read %s" % (source.path, first, last, "; and ".join(said)))


def _scopes(made):
    """(names that the function and those inside of it read from the globals, its own local names)."""
    text = ast.unparse(ast.fix_missing_locations(made))
    table = symtable.symtable(text, "stretch", "exec")
    function = next(child for child in table.get_children() if child.get_name() == made.name)
    read = set()

    def walk(scope):
        for symbol in scope.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                read.add(symbol.get_name())
        for child in scope.get_children():
            walk(child)

    walk(function)
    own = function.get_symbols()
    bound = {symbol.get_name() for symbol in own if symbol.is_local()}
    declared = {symbol.get_name() for symbol in own if symbol.is_declared_global() and symbol.is_assigned()}
    return read - declared, bound | declared


def _bound_in(node):
    """Names that the whole function sets: its arguments, and what is assigned anywhere in it."""
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    names = {argument.arg for argument in every if argument is not None}
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            names.add(each.id)
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and each is not node:
            names.add(each.name)
        elif isinstance(each, ast.alias):
            names.add((each.asname or each.name).split(".")[0])
        elif isinstance(each, ast.ExceptHandler) and each.name:
            names.add(each.name)
    return names


def _imports(tree):
    """{name: the statement that imports it}, of the top of the file and of what is tried there."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                origin = {"module": node.module, "level": node.level} if isinstance(node, ast.ImportFrom) else {}
                text = ast.unparse(type(node)(names=[alias], **origin))
                found.setdefault((alias.asname or alias.name).split(".")[0], text)
    return found
