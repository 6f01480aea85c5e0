"""`python -m lossproof_door.ci check ...`: the command, from an environment that a CI made for it alone.

A trainer does not live in that environment: `python` of a configuration, and the Python of a ready-made adapter, are those of the
job or of whoever commits. pre-commit puts its environment in front of PATH and calls it the active one, so it is taken out.
What a workflow's author wrote comes in variables, as one text each: LOSSPROOF_CI_COMMAND, LOSSPROOF_CI_ADAPTER, LOSSPROOF_CI_PYTHON
and LOSSPROOF_CI_ARGS. A shell would run what is in them; here they are words."""

import os
import sys

from ._node import PYTHON
from ._words import split
from .main import NO_VERDICT, main


def words_of(environment):
    """The words that the variables add. Raises ValueError with a sentence where a quote is not closed."""
    added = []
    for name in ("adapter", "python"):
        value = environment.get("LOSSPROOF_CI_" + name.upper())
        if value:
            added += ["--" + name, value]
    added += _split("args", environment)
    command = _split("command", environment)
    return added + (["--"] + command if command else [])


def leave(environment):
    """Takes this environment out of what is passed on."""
    own = os.path.realpath(sys.prefix)
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    environment["PATH"] = os.pathsep.join(each for each in folders if os.path.realpath(os.path.dirname(each)) != own)
    if environment.get("VIRTUAL_ENV") and os.path.realpath(environment["VIRTUAL_ENV"]) == own:
        del environment["VIRTUAL_ENV"]
    # None: the engine looks in the folder, and then in PATH.
    environment[PYTHON] = ""


def _split(name, environment):
    text = environment.get("LOSSPROOF_CI_" + name.upper()) or ""
    try:
        return split(text)
    except ValueError as error:
        raise ValueError("the words of `%s` cannot be told apart (%s): %s" % (name, error, text)) from None


def run(argv):
    try:
        words = argv + words_of(os.environ)
    except ValueError as error:
        sys.stderr.write("lossproof: %s\n" % error)
        return NO_VERDICT
    leave(os.environ)
    # A hint is read where the command is another one's: it is not in PATH there.
    os.environ.setdefault("LOSSPROOF_COMMAND", "lossproof")
    return main(words)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
