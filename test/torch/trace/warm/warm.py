"""A Python that has its modules loaded already: it forks for each script, so that a script costs its own work only.

    python warm.py serve SOCKET MODULE ...     says "ready", forks; ends with its standard input, and removes the socket's folder
    python warm.py run SOCKET SCRIPT ...       has the streams, folder, environment and exit code of that script's process

What a process reads before its first module is the server's: PYTHONHASHSEED, OMP_NUM_THREADS. `sitecustomize` runs anew.
"""

import array
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
import threading
import types

STREAMS = (0, 1, 2)


def run(path, argv):
    link = socket.socket(socket.AF_UNIX)
    link.connect(path)
    asked = {"argv": argv, "folder": os.getcwd(), "environment": dict(os.environ)}
    link.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", STREAMS))])
    link.sendall(json.dumps(asked).encode() + b"\n")
    answers = link.makefile()
    child = int(answers.readline())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda got, _: os.kill(child, got))
    return int(answers.readline())


def serve(path, modules):
    """Comes back in the process of a script only, with what that was asked."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError:
            # What this environment does not have, no script of it needs.
            continue
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    # A child that collects its garbage, or ends, would visit each object of these modules, and so copy each page of them:
    # four fifths of what a script cost.
    gc.collect()
    gc.freeze()
    # Who ends is not waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            shutil.rmtree(os.path.dirname(path))
            os._exit(0)
        link, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            return attend(link)
        link.close()


def attend(link):
    """Parent of one script, and ends with it; comes back in the script's own process."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, said, _, _ = link.recvmsg(1, socket.CMSG_SPACE(len(STREAMS) * array.array("i").itemsize))
    streams = array.array("i", said[0][2])
    asked = json.loads(link.makefile().readline())
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        for wanted, got in zip(STREAMS, streams):
            os.dup2(got, wanted)
            os.close(got)
        link.close()
        return asked
    for got in streams:
        os.close(got)
    link.sendall(b"%d\n" % child)
    threading.Thread(target=end_with, args=(link, child), daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        link.sendall(b"%d\n" % (code if code >= 0 else 128 - code))
    except OSError:
        pass
    os._exit(0)


def end_with(link, child):
    """A client that is gone takes its script along."""
    link.recv(1)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass


def become(asked):
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv[:] = asked["argv"]
    script = sys.argv[0]
    if not script.endswith(".py"):
        # A console script: what it starts with this Python is warm as well.
        sys.executable = os.environ.get("PYTHON_EXEC", sys.executable)
    ways = [way for way in os.environ.get("PYTHONPATH", "").split(os.pathsep) if way]
    sys.path[0:1] = [os.path.dirname(os.path.abspath(script)), *ways]
    main = types.ModuleType("__main__")
    main.__file__ = script
    sys.modules.pop("sitecustomize", None)
    try:
        importlib.import_module("sitecustomize")
    except ImportError:
        pass
    sys.modules["__main__"] = main
    with open(script, "rb") as file:
        return compile(file.read(), script, "exec"), vars(main)


if sys.argv[1] == "run":
    sys.exit(run(sys.argv[2], sys.argv[3:]))
code, names = become(serve(sys.argv[2], sys.argv[3:]))
exec(code, names)
