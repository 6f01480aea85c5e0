"""A stretch of a method as a function of its own: the trainer's lines as they are on disk, with their line numbers."""

from __future__ import annotations

import ast
import inspect
import keyword
import types

from ._names import check_flow, check_names, without_annotations
from ._stretch import find_function, find_stretch
from ._text import SliceError, Source

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from typing import Any, Union

    File = Union[str, os.PathLike[str], types.ModuleType]

RETURN = "return"


def slice_of(
    path: File,
    where: str | None,
    begin: str,
    end: str,
    inputs: str | Sequence[str] = (),
    outputs: str | Sequence[str] = (),
    namespace: dict[str, Any] | types.ModuleType | None = None,
) -> Callable[..., Any]:
    """A function that runs the lines of `where` ("Class.method"; None for the top of the file) from `begin` to `end`.

    path: the file, which is not imported, or an imported module, whose own globals are used then.
    begin, end: the text of the first and of the last line, or how it begins, white space aside. The end may also be
        the first line of a whole `for`, `if`, `with`. Both must be unique; else, or where the text is no longer
        there, a ValueError says what is.
    inputs: the names that the stretch reads and does not set, `self` among them; arguments of the function, by place
        or by name.
    outputs: a name, whose value is returned; several, returned as a dict; or "return", what the stretch returns.
    namespace: the globals that it reads, the file's imports too: a dict (of `globals()`, or a few) or a module."""
    if inspect.ismodule(path):
        namespace = vars(path) if namespace is None else namespace
        path = inspect.getsourcefile(path) or path.__file__
    if inspect.ismodule(namespace):
        namespace = vars(namespace)
    space = {} if namespace is None else namespace
    inputs = [inputs] if isinstance(inputs, str) else list(inputs)
    names = [outputs] if isinstance(outputs, str) else list(outputs)
    for name in inputs + [name for name in names if names != [RETURN]]:
        if not name.isidentifier() or keyword.iskeyword(name):
            raise SliceError("slice_of: %r is no name of a variable" % name)
    if not names:
        raise SliceError("slice_of without outputs: name what the stretch computes, or outputs=\"return\"")
    source = Source(path)
    node, owner = (source.tree, None) if where is None else find_function(source, where, begin)
    where = where or "the file"
    body, first, last = find_stretch(source, node, where, begin, end)
    returns = names == [RETURN]
    check_flow(source, body, returns)
    stretch = body
    body = [without_annotations(statement) for statement in body]
    made = _function(node, body, inputs, names, isinstance(outputs, str), last)
    check_names(source, node, made, where, first, last, inputs, [] if returns else names, space)
    function = _compiled(source, made, owner, space)
    function.lines, function.source = (first, last), "\n".join(source.lines[first - 1 : last])
    function.__qualname__ = function.__name__ if where == "the file" else where
    function.__doc__ = "Lines %d to %d of %s, %s." % (first, last, source.path, where)

    def remade(tree):
        """Its code where the file were this one, of as many lines (`lossproof mutate`); None where the stretch is gone."""
        there = [_standing(tree, statement) for statement in stretch]
        if None in there:
            return None
        again = [without_annotations(statement) for statement in there]
        made = _function(node, again, inputs, names, isinstance(outputs, str), last)
        return _compiled(source, made, owner, space).__code__

    function.remade = remade
    return function


def _function(node, body, inputs, names, alone, last):
    """def NAME(inputs): body; return outputs. What is added is said to stand on the last line of the stretch."""
    if names == [RETURN]:
        closing = ast.parse("raise RuntimeError('the stretch ended without a return')").body
    elif alone:
        closing = [ast.Return(ast.Name(names[0], ast.Load()))]
    else:
        fields = [ast.Name(name, ast.Load()) for name in names]
        closing = [ast.Return(ast.Dict([ast.Constant(name) for name in names], fields))]
    for statement in closing:
        for each in ast.walk(statement):
            if isinstance(each, (ast.expr, ast.stmt)):
                each.lineno = each.end_lineno = last
                each.col_offset = each.end_col_offset = 0
    made = ast.parse("def f(%s): pass" % ", ".join(inputs)).body[0]
    made.name = getattr(node, "name", "stretch")
    made.body = body + closing
    for each in [made, made.args, *made.args.args]:
        if hasattr(each, "lineno"):
            each.lineno = each.end_lineno = body[0].lineno
    return made


def _standing(tree, statement):
    """What stands in the tree where the statement does in its own."""
    place = statement.lineno, statement.col_offset
    every = (each for each in ast.walk(tree) if isinstance(each, ast.stmt))
    return next((each for each in every if (each.lineno, each.col_offset) == place), None)


def _compiled(source, made, owner, space):
    """Inside a class of the same name, so that self.__private is the attribute that it is there."""
    tree = ast.parse("class %s: pass" % owner) if owner else ast.parse("")
    (tree.body[0] if owner else tree).body = [made]
    code = compile(ast.fix_missing_locations(tree), source.path, "exec", source.future, True)
    local = {}
    exec(code, space, local)
    found = vars(local[owner])[made.name] if owner else local[made.name]
    assert isinstance(found, types.FunctionType)
    return found
