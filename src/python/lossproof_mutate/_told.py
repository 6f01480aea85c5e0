"""Files of the folder that this process and the engine share: what is asked, and which changes there are."""

import json
import os
import tokenize

ASKED, PLAN, TEXTS = "asked.json", "plan.json", "texts"
SOCKET = "socket"


def asked(folder):
    with open(os.path.join(folder, ASKED), encoding="utf-8") as file:
        return json.load(file)


def write(folder, name, value):
    """Whole or not at all: the engine reads as soon as it is there."""
    path = os.path.join(folder, name)
    with open(path + ".part", "w", encoding="ascii") as file:
        json.dump(value, file)
    os.replace(path + ".part", path)


def told_change(folder, identity):
    """(path of the file, its text with this change)."""
    from ._changes import changed

    with open(os.path.join(folder, PLAN), encoding="utf-8") as file:
        plan = json.load(file)
    change = next(change for change in plan["changes"] if change["id"] == identity)
    path = plan["files"][change["file"]]["path"]
    return path, changed(read_source(path), change)


def read_source(path):
    with tokenize.open(path) as file:  # by its own coding line
        return file.read()
