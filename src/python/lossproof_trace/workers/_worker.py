"""The tracer in a worker of Ray: where its records go, who it says it is, and how it ends: never by itself, because an actor that
leaves is an error to whoever waits for it. It tells the driver that its steps are made, and waits to be ended with the script.
"""

import os
import threading
import time

from ..recording import _ending, _session
from ._board import Board

# So long a worker whose steps are made waits for the script's end before it goes on, unseen: others may wait for it.
# bound (wall): `trace` under Ray: a worker that has made its steps waits for the script's end; it goes on without being traced
PATIENCE = 20.0
# How often a worker looks whether the script is over.
# pace
LOOK = 0.2
# Set for a node by whoever starts it: it shares no folder with the driver, whatever it looks like.
APART = "LOSSPROOF_TRACE_APART"


def prepare(facts, base, home):
    """Before the tracer is armed: what it, and processes that this one starts, are to know by the environment."""
    folder = facts["folder"] if _shares(facts) else os.path.join(base, "records")
    bootstrap = os.path.join(home, "lossproof_trace", "bootstrap")
    before = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    os.environ.update(
        PYTHONPATH=os.pathsep.join([bootstrap, home] + before),
        LOSSPROOF_TRACE=folder,
        LOSSPROOF_TRACE_STEPS=str(facts["steps"]),
        LOSSPROOF_TRACE_MODE=facts["mode"],
        LOSSPROOF_TRACE_COMPILED=facts["compiled"],
        LOSSPROOF_TRACE_NODE=_node()[:12],
    )
    session = _session.current()
    if session is not None and session.folder != folder:
        # The cluster was started by a script that is traced, this one or an earlier one.
        os.makedirs(folder, exist_ok=True)
        session.move(folder)


def join(facts, base):
    session = _session.current()
    if session is not None:
        with session.guard("Ray worker"):
            Worker(session, facts, base)


def mark_of(folder, token):
    """The file by which a node is seen to share the driver's folder."""
    return os.path.join(folder, ".ray-" + token)


def machine():
    """Processes with the same can see each other's ids and files."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return "%s %s %s" % (file.read().strip(), os.readlink("/proc/self/ns/pid"), os.readlink("/proc/self/ns/mnt"))
    except OSError:
        return None


class Worker:
    def __init__(self, session, facts, base):
        self.session = session
        self.base = base
        self.board = Board(facts["token"])
        self.named = None
        self.waited = self.training_said = False
        self.pid = os.getpid()
        self.key = "%s-%d" % (_node(), self.pid)
        self.shared = session.folder == facts["folder"]
        session.who = self.who
        session.leaving = self.leave
        session.on_training.append(self.training)
        self.say()
        threading.Thread(target=self.watch, name="lossproof_trace", daemon=True).start()

    def say(self):
        self.board.put(
            "worker",
            self.key,
            {
                "pid": self.pid,
                "node": _node(),
                "host": _host(),
                "machine": None if os.environ.get(APART) else machine(),
                "base": self.base,
                "folder": self.session.folder,
                "file": self.session.file,
                "shared": self.shared,
                "name": self.named,
            },
        )

    def who(self):
        """What stands in the process record: known once an actor, or a first task, has been given to it."""
        if self.named is None and os.getpid() == self.pid:
            self.named = _name()
            if self.named is not None:
                with self.session.guard("Ray worker"):
                    self.say()
        return {"name": self.named, "node": _host()}

    def training(self, session, model):
        if not self.training_said and os.getpid() == self.pid:
            self.training_said = True
            self.board.put("training", self.key, {})

    def leave(self):
        if self.waited or os.getpid() != self.pid:
            return
        self.waited = True
        with self.session.guard("Ray worker"):
            self.board.put("done", self.key, {})
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            time.sleep(LOOK)

    def watch(self):
        """Actors are not asked whether they want to end: the last record is written when the script is over."""
        over = os.path.join(self.base, "over")
        while self.session.ended is None:
            time.sleep(LOOK)
            if os.path.exists(over):
                _ending.finish(self.session)


def _shares(facts):
    if os.environ.get(APART):
        return False
    try:
        with open(mark_of(facts["folder"], facts["token"]), encoding="ascii") as file:
            return file.read() == facts["token"]
    except OSError:
        return False


def _node():
    import ray

    return ray.get_runtime_context().get_node_id()


def _host():
    import socket

    return socket.gethostname()


def _name():
    """`actor Learner`, `actor first (Learner)`, `task rollout`."""
    import ray

    try:
        context = ray.get_runtime_context()
        task = context.get_task_name() or ""
        if context.get_actor_id() is None:
            return "task " + task if task else None
        kind = task.rsplit(".", 1)[0].rsplit(".", 1)[-1]
        name = context.get_actor_name() or ""
        if not kind:
            return None
        return "actor %s (%s)" % (name, kind) if name else "actor " + kind
    except Exception:  # noqa: BLE001 - a name is not worth a record
        return None
