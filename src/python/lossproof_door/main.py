"""The command `lossproof`: becomes the engine. Same options, exit codes, signals and terminal, because it is the same process."""

import os
import shutil
import subprocess
import sys

from ._node import NoNode, engine_command, engine_environment, unable
from ._other import other

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
    hidden = other()
    if hidden is not None:
        sys.stderr.write("lossproof: %s.\n" % hidden)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        return _become(command, environment)
    except OSError as error:
        return _refuse(str(unable(command, error)))


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
