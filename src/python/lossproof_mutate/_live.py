"""A change in the live functions of this process: their code is replaced, so that whoever holds one of them has it changed.

What runs once, when a file is imported, is over by then: of that, and of whatever else no live function can take, `take` raises
TooLate, and a fresh process imports the file with the change.
"""

import ast
import gc
import os
import types

from ._changes import changed


class TooLate(Exception):
    """No live function can take this change."""


class Live:
    """The functions of some files as they are before anything is changed."""

    def __init__(self, texts):
        self.texts = texts  # by real path
        self.functions = {path: [] for path in texts}
        self.originals = {}
        real = {}
        for each in gc.get_objects():
            if not isinstance(each, types.FunctionType):
                continue
            name = each.__code__.co_filename
            path = real[name] if name in real else real.setdefault(name, os.path.realpath(name))
            if path in self.functions:
                self.functions[path].append(each)

    def take(self, path, change):
        text = changed(self.texts[path], change)
        taken = self._slices(path, text)
        if change["default"]:
            taken += self._default(path, text)
        else:
            taken += self._codes(path, text)
        if not taken:
            raise TooLate()
        for function, code in taken:
            if isinstance(code, types.CodeType):
                if len(code.co_freevars) != len(function.__code__.co_freevars):
                    raise TooLate()
        for function, code in taken:
            if isinstance(code, types.CodeType):
                function.__code__ = code
            else:
                function.__defaults__, function.__kwdefaults__ = code

    def _codes(self, path, text):
        """[(function, its code with the change)] of those whose code is another."""
        name = self._name(path)
        before = _by_key(compile(self.texts[path], name, "exec", dont_inherit=True))
        after = _by_key(compile(text, name, "exec", dont_inherit=True))
        keys = {}
        for key in before:
            keys.setdefault(_place(before[key]), []).append(key)
        taken = []
        for function in self.functions[path]:
            several = keys.get(_place(function.__code__), [])
            if "remade" in function.__dict__ or not several:
                continue
            key = several[0]
            if len(several) > 1:  # lambdas of one line
                key = next((each for each in several if before[each] == function.__code__), key)
            if key in after and after[key] != before[key]:
                taken.append((function, after[key]))
        return taken

    def _default(self, path, text):
        """[(function, its defaults with the change)]."""
        before, after = (_definitions(ast.parse(each)) for each in (self.texts[path], text))
        taken = []
        for function in self.functions[path]:
            key = (function.__name__, function.__code__.co_firstlineno)
            if key not in before or key not in after or ast.dump(before[key].args) == ast.dump(after[key].args):
                continue
            taken.append((function, _defaults(function, before[key].args, after[key].args)))
        return taken

    def _slices(self, path, text):
        cut = [each for each in self.functions[path] if "remade" in each.__dict__]
        if not cut:
            return []
        tree = ast.parse(text)
        made = [(each, each.remade(tree)) for each in cut]
        return [(each, code) for each, code in made if code is not None and code != each.__code__]

    def _name(self, path):
        """As the interpreter calls the file."""
        every = [each.__code__.co_filename for each in self.functions[path]]
        return every[0] if every else path


def _place(code):
    return code.co_name, code.co_firstlineno


def _by_key(code, above=()):
    """{way to it from the file: code}: names and first lines, and which of several that are alike."""
    found, seen = {}, {}
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            number = seen[_place(each)] = seen.get(_place(each), -1) + 1
            key = above + ((*_place(each), number),)
            found[key] = each
            found.update(_by_key(each, key))
    return found


def _definitions(tree):
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            found[node.name, first] = node
    return found


def _defaults(function, before, after):
    def value(node):
        return eval(compile(ast.Expression(node), "default", "eval"), function.__globals__)

    places = list(function.__defaults__ or ())
    for at, (old, new) in enumerate(zip(before.defaults, after.defaults)):
        if ast.dump(old) != ast.dump(new):
            places[at] = value(new)
    named = dict(function.__kwdefaults__ or {})
    for argument, old, new in zip(before.kwonlyargs, before.kw_defaults, after.kw_defaults):
        if old is not None and ast.dump(old) != ast.dump(new):
            named[argument.arg] = value(new)
    return tuple(places) or None, named or None
