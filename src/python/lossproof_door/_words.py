"""A command that is one text, as words."""

import os
import re
import shlex


def split(text, windows=os.name == "nt"):
    """A command as words, as `splitCommand` of the engine has them: on Windows a backslash is what paths are made of, and escapes only
    what would end the word or the quote. Raises ValueError where a quote is not closed."""
    if not windows:
        return shlex.split(text)
    words, begun = [], False
    for gap, single, double, other in _PIECE.findall(text):
        if gap:
            begun = False
            continue
        if not begun:
            words.append("")
            begun = True
        if other in ("'", '"'):
            raise ValueError("No closing quotation")
        words[-1] += single[1:-1] or _PAIR.sub(_unescaped, double[1:-1]) or other[-1:]
    return words


# A gap; what stands between quotes; one character, or what a backslash makes one.
_PIECE = re.compile(r"""(\s+)|('[^']*')|("(?:\\.|[^"\\])*")|(\\["'\s]|\S)""", re.DOTALL)
_PAIR = re.compile(r"\\.", re.DOTALL)


def _unescaped(pair):
    return '"' if pair.group() == '\\"' else pair.group()
