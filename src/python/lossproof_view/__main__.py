"""One request on standard input, rows out: `python -m lossproof_view`.

The first line of the request is `{"trainer", "config", "folder", "room", "files"}`; each other one is a row of the data set,
`{"file": 0, "number": 7, "row": {...}}`. The answer is a line per row that the trainer makes, `{"number", "ids", "labels"}`, and
a last one: `{"version", "settings", "keys"}`, `{"absent": package}`, `{"broken": why}` where it cannot be imported, or
`{"stops": why}` where it makes no rows of this configuration.

Standard output is the channel: whatever a library prints goes to standard error. Nothing is fetched from the network, no GPU is
used, no code of the model folder runs, and what the trainer writes goes to the folder `room`, which the caller removes.
"""

import importlib
import importlib.metadata
import importlib.util
import json
import os
import sys

from ._given import Given

# The module here that asks it, and the package that it needs.
TRAINERS = {"axolotl": ("_axolotl", "axolotl"), "llama-factory": ("_factory", "llamafactory"), "trl": ("_trl", "trl")}

LONGEST_REASON = 600


def main():
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    request = json.loads(sys.stdin.readline())
    files = [[] for _ in range(request["files"])]
    for line in sys.stdin:
        row = json.loads(line)
        files[row["file"]].append((row["number"], row["row"]))
    sys.addaudithook(no_network)
    for made in answer(request, Given(files, request["room"])):
        channel.write(json.dumps(made) + "\n")
    channel.flush()


def answer(request, given):
    name, package = TRAINERS[request["trainer"]]
    if importlib.util.find_spec(package) is None:
        return [{"absent": package}]
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # A checkout on PYTHONPATH.
        version = "of unknown version"
    # What a library raises here may be anything, an end of the process among it: the caller shows the sentence.
    try:
        trainer = importlib.import_module("." + name, __package__)
    except (Exception, SystemExit) as error:
        return [{"broken": reason(error), "version": version}]
    os.chdir(request["folder"])
    try:
        made = trainer.make(request["config"], given, request["room"])
    except (Exception, SystemExit) as error:
        return [{"stops": reason(error), "version": version}]
    return [*made["rows"], {"version": version, "settings": made["settings"], "keys": made["keys"]}]


def reason(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ("%s: %s" % (type(error).__name__, " ".join(lines)))[:LONGEST_REASON]


def no_network(event, args):
    """Sockets within this machine that have a file are none."""
    if event in ("socket.getaddrinfo", "socket.gethostbyname") or (event == "socket.connect" and not isinstance(args[1], (str, bytes))):
        raise OSError("lossproof lets no trainer reach the network here")


if __name__ == "__main__":
    main()
