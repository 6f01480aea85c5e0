"""The command: one correct trainer by name, or the list of them."""

import json
import sys

import lossproof
from lossproof import _channel
from lossproof._registry import nearest

from . import CONVENTIONS, declared, names, ops_of, settings_of
from .settings import semantics

_PROGRAM = "conformance.conventions"


def listed(name):
    settings = settings_of(name)
    return {"name": name, "title": settings.title, "declares": name in CONVENTIONS, "is": semantics(settings)}


def main(asked):
    if asked == ["--list"]:
        return _channel.write(json.dumps([listed(name) for name in names()]) + "\n")
    name = asked[0] if asked else ""
    if len(asked) != 1 or name not in names():
        hint = nearest(name, names())
        sys.stderr.write("%s: no trainer %r%s; --list names all %d\n" % (_PROGRAM, name, hint, len(names())))
        raise SystemExit(2)
    lossproof.serve(name=name, ops=ops_of(settings_of(name)), **declared(name))


main(sys.argv[1:])
