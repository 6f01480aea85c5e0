"""How `lossproof` is started from Python: words of a command line, or a sentence that says what to install."""

import os
import shutil

# This file lies in the package of npm: src/python/lossproof_monitor of it.
_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(_HERE)))
_MAIN = os.path.join("dist", "src", "cli", "main.js")
_BIN = os.path.join("node_modules", ".bin", "lossproof")


class NotFound(Exception):
    """`lossproof` cannot be started; the message says what to do."""


def found(command=None):
    """The words that start it: those given, those of the environment variable LOSSPROOF, what pip has installed beside this
    file, the package of npm that it lies in, what npm has installed in this folder or above it, or what stands in PATH."""
    given = command if command is not None else os.environ.get("LOSSPROOF") or None
    if given is not None:
        words = _split(given) if isinstance(given, str) else [str(word) for word in given]
        if not words or shutil.which(words[0]) is None:
            raise NotFound("%r cannot be started: there is no such program" % " ".join(words))
        return words
    by_pip = _of_the_wheel()
    if by_pip is not None:
        return by_pip
    node = shutil.which(os.environ.get("LOSSPROOF_NODE") or "node")
    main = os.path.join(_PACKAGE, _MAIN)
    if node is not None and os.path.isfile(main):
        return [node, main]
    for folder in _upward(os.getcwd()):
        installed = os.path.join(folder, _BIN)
        if node is not None and os.access(installed, os.X_OK):
            return [installed]
    anywhere = shutil.which("lossproof")
    if anywhere is not None:
        return [anywhere]
    if node is None:
        raise NotFound("it needs Node.js 20.19 or newer, and there is no `node` in PATH; `pip install lossproof` brings both")
    raise NotFound("it is not installed here: `pip install lossproof` or `npm install --save-dev lossproof`, or name it by LOSSPROOF=/path/to/lossproof")


def _split(text):
    from lossproof_door._words import split

    return split(text)


def _of_the_wheel():
    """The engine that pip has installed beside this file; None where this file is npm's, or of a checkout."""
    if not os.path.isdir(os.path.join(os.path.dirname(_HERE), "lossproof_door", "engine")):
        return None
    from lossproof_door._node import NoNode, engine_command

    try:
        return engine_command()
    except NoNode as error:
        raise NotFound(str(error)) from None


def _upward(folder):
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder:
            return
        folder = above
