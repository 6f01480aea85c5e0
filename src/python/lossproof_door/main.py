"""The command `lossproof`: becomes the engine. Same options, exit codes, signals and terminal, because it is the same process."""

import importlib.util
import os
import shutil
import subprocess
import sys

from ._node import NoNode, engine_command, engine_environment

#: As the engine has it: nothing was judged.
NO_VERDICT = 2


def main(argv=None):
    """Runs the engine with these arguments, or those of this process, and never comes back from it on POSIX."""
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        command = engine_command(words)
        environment = engine_environment(_typed())
    except NoNode as error:
        return _refuse(str(error))
    other = _other_sdk()
    if other is not None:
        sys.stderr.write("lossproof: %s.\n" % other)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        return _become(command, environment)
    except OSError as error:
        return _refuse("%s cannot be run: %s; name another Node by LOSSPROOF_NODE" % (command[0], error.strerror))


def _become(command, environment):
    if os.name != "nt":
        os.execve(command[0], command, environment)
    # Windows has no exec: a child in the same console, which gets the same Ctrl-C and decides what it means.
    child = subprocess.Popen(command, env=environment)
    while True:
        try:
            return child.wait()
        except KeyboardInterrupt:
            continue


def _other_sdk():
    """Where `import lossproof` gives another one than this command belongs to: an older one in PYTHONPATH, as a rule.

    What the engine starts gets the engine's own all the same; what imports it in this Python, a test or a notebook, does not."""
    spec = importlib.util.find_spec("lossproof")
    found = os.path.dirname(spec.origin) if spec is not None and spec.origin else None
    own = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lossproof")
    if found is None or os.path.realpath(found) == os.path.realpath(own):
        return None
    return "`import lossproof` gives %s here, and not %s, which this command belongs to; take %s out of %s" % (
        found,
        own,
        os.path.dirname(found),
        "PYTHONPATH" if os.path.dirname(found) in os.environ.get("PYTHONPATH", "").split(os.pathsep) else "sys.path",
    )


def _typed():
    """What the user typed to get here, for the hints that the engine prints."""
    started = sys.argv[0] if sys.argv else ""
    if os.path.basename(started) == "__main__.py":
        return "%s -m lossproof" % _short(sys.executable or "python")
    return _short(started) if started else "lossproof"


def _short(program):
    """The bare name where a shell finds this program by it; else a path, quoted for a shell."""
    name = os.path.splitext(os.path.basename(program))[0] if os.name == "nt" else os.path.basename(program)
    found = shutil.which(name)
    if found is not None and os.path.exists(program) and os.path.samefile(found, program):
        return name
    near = os.path.relpath(program) if os.path.isabs(program) and _below(program, os.getcwd()) else program
    return _quoted(near)


def _below(path, folder):
    return os.path.normcase(path).startswith(os.path.join(os.path.normcase(folder), ""))


def _quoted(word):
    if os.name == "nt":
        return '"%s"' % word if " " in word else word
    import shlex  # only where it is needed: start-up counts

    return shlex.quote(word)


def _refuse(sentence):
    sys.stderr.write("lossproof: %s.\n" % sentence)
    return NO_VERDICT


if __name__ == "__main__":
    sys.exit(main())
