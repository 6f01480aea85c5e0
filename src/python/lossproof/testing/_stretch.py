"""Where a stretch is: the statements of one block, from the line that one text names to the line that another does."""

import ast
import difflib

from ._text import SliceError, functions, squeeze

BLOCKS = ("body", "orelse", "finalbody")
MANY = 6  # candidates shown


def find_function(source, name, begin):
    """(node, class name or None) of the one function of this name; of several the one that has the begin."""
    every = functions(source.tree)
    if name not in every:
        near = difflib.get_close_matches(name, every, 1, 0.4)
        there = "nearest is %s (line %d)" % (near[0], every[near[0]][0][0].lineno) if near else "it has no function"
        raise SliceError("%s has no %s; %s" % (source.path, name, there))
    several = every[name]
    if len(several) > 1:
        several = [found for found in several if _lines_with(source, begin, *_extent(found[0]))]
        if len(several) != 1:
            at = ", ".join(str(node.lineno) for node, _ in every[name])
            raise SliceError("%s defines %s on lines %s: the begin does not tell which" % (source.path, name, at))
    return several[0]


def find_stretch(source, node, where, begin, end):
    """(statements, first line, last line) of the stretch inside of this function or module."""
    first, last = _extent(node) if not isinstance(node, ast.Module) else (1, len(source.lines))
    starts = _one_line(source, where, "begin", begin, first, last)
    block = _block_with(node, starts)
    if block is None:
        inside = _smallest(node, starts)
        within = "; it is inside that of " + source.shown(inside.lineno) if inside else ""
        raise SliceError("%s: %s does not begin a statement%s" % (source.path, source.shown(starts), within))
    at = next(i for i, statement in enumerate(block) if top(statement) == starts)
    ends = _one_line(source, where, "end", end, starts, last)
    for to in range(len(block) - 1, at - 1, -1):
        if top(block[to]) <= ends <= block[to].end_lineno:
            _whole(source, block[to], ends)
            return block[at : to + 1], starts, block[to].end_lineno
    raise SliceError(
        "%s: the begin, %s, is in a block that ends with line %d, before the end, %s: a stretch lies in one block"
        % (source.path, source.shown(starts), block[-1].end_lineno, source.shown(ends))
    )


def top(statement):
    """The first line of a statement, its decorators' too."""
    return min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", []))])


def _extent(node):
    return top(node), node.end_lineno


def _whole(source, statement, line):
    """A stretch ends with a whole statement: by its first line or by its last, not by one in the middle of a block."""
    inner = [block for name in BLOCKS for block in [getattr(statement, name, None)] if block]
    inner += [handler.body for handler in getattr(statement, "handlers", [])]
    inner += [case.body for case in getattr(statement, "cases", [])]
    inside = any(block[0].lineno <= line for block in inner)
    final = max((block[-1] for block in inner), key=lambda each: each.end_lineno, default=None)
    if inside and line >= top(final):
        _whole(source, final, line)
    elif inside:
        raise SliceError(
            "%s: the end, %s, is in the middle of what begins with %s: end with its last, %s"
            % (source.path, source.shown(line), source.shown(top(statement)), source.shown(final.lineno))
        )


def _one_line(source, where, which, text, first, last):
    wanted = squeeze(text)
    if not wanted:
        raise SliceError("the %s is empty: it is the text of a line" % which)
    found = _lines_with(source, text, first, last)
    if len(found) == 1:
        return found[0]
    if found:
        shown = "; ".join(source.shown(line) for line in found[:MANY])
        more = " and %d more" % (len(found) - MANY) if len(found) > MANY else ""
        raise SliceError(
            "%s: `%s`, the %s, is on several lines of %s: %s%s" % (source.path, text.strip(), which, where, shown, more)
        )
    behind = " after its begin" if which == "end" else ""
    near = _nearest(source, wanted, first, last)
    raise SliceError(
        "%s: %s has no line `%s`%s any more; nearest is %s"
        % (source.path, where, text.strip().splitlines()[0], behind, source.shown(near))
    )


def _lines_with(source, text, first, last):
    """Lines that are this text, else those that begin with it, else those that contain it. Text of several lines is
    compared with as many, and stands for the first."""
    wanted = squeeze(text)
    deep = len([line for line in text.splitlines() if line.strip()])
    lines = range(first, last + 1)
    if deep > 1:
        lines = [line for line in lines if squeeze(source.lines[line - 1])]
        runs = [lines[i : i + deep] for i in range(len(lines))]
        return [run[0] for run in runs if squeeze("".join(source.lines[at - 1] for at in run)).startswith(wanted)]
    for fits in (str.__eq__, str.startswith, str.__contains__):
        found = [line for line in lines if any(fits(each, wanted) for each in source.squeezed(line))]
        if found:
            return found
    return []


def _nearest(source, wanted, first, last):
    def likeness(line):
        return max(difflib.SequenceMatcher(None, wanted, each, False).ratio() for each in source.squeezed(line))

    return max(range(first, last + 1), key=likeness)


def _block_with(node, line):
    """The list of statements of which one begins on this line; the outermost one."""
    for block in _blocks(node):
        if any(top(statement) == line for statement in block):
            return block
        for statement in block:
            if top(statement) <= line <= statement.end_lineno:
                return _block_with(statement, line)
    return None


def _blocks(node):
    found = [getattr(node, name) for name in BLOCKS if getattr(node, name, None)]
    for other in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
        found.append(other.body)
    return [block for block in found if isinstance(block, list)]


def _smallest(node, line):
    inside = [each for each in ast.walk(node) if isinstance(each, ast.stmt) and each.lineno < line <= each.end_lineno]
    return min(inside, key=lambda each: each.end_lineno - each.lineno, default=None)
