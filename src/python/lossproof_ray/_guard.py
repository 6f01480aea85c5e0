"""Stands on a node between Ray's worker and the engine, and lets nothing of a shard outlive the worker.

    python -I -c SOURCE '{"words": [...], "cwd": "...", "home": "..."}'   with a pipe as standard input

The other end of the pipe is in the worker alone: when the worker is gone, however that went, the pipe ends. It is no child of the
worker, which may end its children and nothing below them. On Linux what loses its parent becomes a child of the guard, so
that all that the engine has started is found; elsewhere a trainer that is left reads the end of its own standard input. Sent
to the node as text: standard library only, and nothing of ours.
"""

import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

END = "end.json"
PID = "guard.pid"
OUT = "engine.out"
ERR = "engine.err"
LINUX = sys.platform.startswith("linux")
PR_SET_CHILD_SUBREAPER = 36
# Seconds between two looks at the engine, and for the last processes to be gone.
# pace
LOOK = 0.1
# bound (wall): Ray: waiting for the last processes of a shard to end; they are left
LAST = 10.0


def main(job):
    home = job["home"]
    pid = os.fork()
    if pid:
        with open(os.path.join(home, PID), "w") as file:
            file.write(str(pid))
        os._exit(0)
    os.setsid()
    if LINUX:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        end, alone = watched(job)
        killed_all()
        tell(home, end)
        if not alone:
            ended_pipe()
    finally:
        killed_all()
        shutil.rmtree(home, ignore_errors=True)


def watched(job):
    """How the engine ended, and whether the worker has gone before it."""
    home = job["home"]
    with open(os.path.join(home, OUT), "wb") as out, open(os.path.join(home, ERR), "wb") as err:
        try:
            engine = subprocess.Popen(job["words"], cwd=job["cwd"], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        except OSError as error:
            return {"code": None, "why": "%s cannot be started: %s" % (job["words"][0], error)}, False
    while True:
        if select.select([0], [], [], LOOK)[0] and not os.read(0, 1):
            return {"code": None, "why": "the worker is gone"}, True
        status = reaped(engine.pid)
        if status is not None:
            return {"code": status, "why": None}, False


def reaped(pid):
    """The exit status of this child, as `subprocess` has it; None while it runs. Of others only that they are gone."""
    while True:
        try:
            gone, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 0 if pid is None else None
        if gone == 0:
            return None
        if gone == pid:
            return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def killed_all():
    """Everything below us is dead and gone."""
    until = time.monotonic() + LAST
    while time.monotonic() < until:
        below = descendants()
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        # Until there is no child left, of those that came to us when their parents died, either.
        if reaped(None) == 0 and not below:
            return
        time.sleep(LOOK / 2)


def descendants():
    parents = {}
    if LINUX:
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open("/proc/%s/stat" % name, "rb") as file:
                        # The name in parentheses may hold anything.
                        state, parent = file.read().rpartition(b")")[2].split()[:2]
                except OSError:
                    continue
                if state != b"Z":
                    parents[int(name)] = int(parent)
    else:
        listed = subprocess.Popen(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE)
        for line in listed.communicate()[0].splitlines():
            pid, parent = map(int, line.split())
            if pid != listed.pid:
                parents[pid] = parent
    found, last = set(), {os.getpid()}
    while last:
        last = {pid for pid, parent in parents.items() if parent in last} - found
        found |= last
    return found


def tell(home, end):
    partial = os.path.join(home, END + ".part")
    with open(partial, "w") as file:
        json.dump(end, file)
    os.rename(partial, os.path.join(home, END))


def ended_pipe():
    while os.read(0, 1):
        pass


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
