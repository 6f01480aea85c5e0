"""Source as it lies on disk: its lines without comments and white space, and the functions in it by their names."""

import ast
import io
import tokenize


class SliceError(ValueError):
    """The stretch cannot be cut out of this source; the message says why, and what is nearest."""


class Source:
    def __init__(self, path):
        self.path = str(path)
        try:
            with tokenize.open(self.path) as file:  # by its own coding line
                self.text = file.read()
            self.tree = ast.parse(self.text, self.path)
        except OSError as why:
            raise SliceError("%s cannot be read: %s" % (self.path, why.strerror)) from None
        except (SyntaxError, UnicodeError, ValueError) as why:
            line = getattr(why, "lineno", None)
            raise SliceError("%s%s is no Python: %s" % (self.path, ":%d" % line if line else "", why)) from None
        self.lines = self.text.split("\n")  # not splitlines: a form feed ends no line of Python
        self._bare = _without_comments(self.text, self.lines)

    def squeezed(self, line):
        """{the line, the line without its comment}, both without white space."""
        return {squeeze(self.lines[line - 1]), squeeze(self._bare[line - 1])}

    def shown(self, line):
        return "line %d, `%s`" % (line, self.lines[line - 1].strip())

    @property
    def future(self):
        """Flags of compile() for the file's `from __future__ import`s."""
        import __future__

        named = [
            alias.name
            for node in self.tree.body
            if isinstance(node, ast.ImportFrom) and node.module == "__future__"
            for alias in node.names
        ]
        flags = 0
        for name in named:
            flags |= getattr(__future__, name).compiler_flag
        return flags


def squeeze(text):
    return "".join(text.split())


def functions(tree):
    """{dotted name: [(node, name of the class that it is a method of, or None)]}: a name may be defined twice."""
    found = {}

    def walk(node, prefix, owner):
        for child in ast.iter_child_nodes(node):
            inside, inner = prefix, owner
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inside, inner = prefix + [child.name], None
                found.setdefault(".".join(inside), []).append((child, owner))
            elif isinstance(child, ast.ClassDef):
                inside, inner = prefix + [child.name], child.name
            walk(child, inside, inner)

    walk(tree, [], None)
    return found


def _without_comments(text, lines):
    bare = list(lines)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                row, column = token.start
                bare[row - 1] = lines[row - 1][:column]
    except (tokenize.TokenError, IndentationError):
        pass  # compared with their comments, then
    return bare
