"""Where a script calls `ray.init`, or has it called by its first remote call: the job's workers get the tracer by Ray's own
`worker_process_setup_hook`, which actors with a runtime environment of their own keep. The script's hook is called behind it, and
everything else of its runtime environment is as it was.
"""

import atexit
import contextlib
import functools
import json
import os
import secrets
import socket

from . import _collecting, _stopping
from ._board import Board
from ._carried import PACKAGE, hook_for
from ._worker import mark_of

HOOK = "worker_process_setup_hook"
# So long an actor that is killed has for its last record, in seconds.
# bound (wall): `trace` under Ray: waiting for the last record of an actor that is killed; its trace has no end, which is said
TO_FINISH = 2.0
# What a traced process knows by its environment.
OURS = ["LOSSPROOF_TRACE" + part for part in ("", "_STEPS", "_MODE", "_COMPILED", "_NODE")]
# As Ray puts a hook into the environment of a worker, and the job's configuration into that of a driver that it starts.
HOOK_VARIABLE = "__RAY_WORKER_PROCESS_SETUP_HOOK_ENV_VAR"
JOB_CONFIG = "RAY_JOB_CONFIG_JSON_ENV_VAR"


def install(session, ray):
    _finish_before_kill(session, ray)
    # In a worker Ray is there before us.
    if ray.is_initialized():
        return
    jobs = []
    init, shutdown = ray.init, ray.shutdown

    @functools.wraps(init)
    def traced_init(*args, **kwargs):
        job = None
        with session.guard("ray.init"):
            if not ray.is_initialized():
                job = _prepared(session, args, kwargs)
        if job is None:
            return init(*args, **kwargs)
        with job.hidden():
            context = init(*args, **job.arguments)
        with session.guard("ray.init"):
            job.begin()
            jobs.append(job)
        return context

    def finish():
        while jobs:
            jobs.pop().finish(ray.is_initialized())

    @functools.wraps(shutdown)
    def traced_shutdown(*args, **kwargs):
        finish()
        return shutdown(*args, **kwargs)

    ray.init, ray.shutdown = traced_init, traced_shutdown
    # Ray has registered its own when it was imported: ours is called before it.
    atexit.register(finish)


def _finish_before_kill(session, ray):
    """An actor that the script itself is done with writes its last record; one that does not answer is killed all the same."""
    kill = ray.kill

    @functools.wraps(kill)
    def traced_kill(actor, *args, **kwargs):
        with session.guard("ray.kill"):
            try:
                ray.get(actor.__ray_call__.remote(_finisher()), timeout=TO_FINISH)
            except Exception:  # noqa: BLE001 - dead, busy, or no handle at all: what follows says so
                pass
        return kill(actor, *args, **kwargs)

    ray.kill = traced_kill


def _finisher():
    def finish(_):
        import sys

        session = sys.modules["lossproof_trace.recording._session"].current()
        sys.modules["lossproof_trace.recording._ending"].finish(session)

    return finish


class Job:
    """Of one `ray.init`."""

    def __init__(self, session, arguments, injected):
        self.session = session
        self.arguments = arguments
        self.injected = injected
        self.token = secrets.token_hex(8)
        self.board = Board(self.token)
        self.leaving = False

    def facts(self):
        return {
            "token": self.token,
            "folder": os.path.abspath(self.session.folder),
            "steps": self.session.wanted,
            "mode": self.session.mode,
            "compiled": os.environ.get("LOSSPROOF_TRACE_COMPILED", "0"),
        }

    @contextlib.contextmanager
    def hidden(self):
        """A cluster that is started now takes the environment over, and its workers are to be reached in one way only."""
        before = dict(os.environ)
        ours = {os.path.join(PACKAGE, "bootstrap"), os.path.dirname(PACKAGE)}
        path = [each for each in before.get("PYTHONPATH", "").split(os.pathsep) if os.path.abspath(each or ".") not in ours]
        hidden = {name: None for name in OURS}
        if "PYTHONPATH" in before:
            hidden["PYTHONPATH"] = os.pathsep.join(path) or None
        hidden.update(self.injected)
        _set(hidden)
        try:
            yield
        finally:
            _set({name: before.get(name) for name in hidden})

    def begin(self):
        with open(mark_of(self.session.folder, self.token), "w", encoding="ascii") as file:
            file.write(self.token)
        host = socket.gethostname()
        self.session.who = lambda: {"name": "driver", "node": host}
        if self.session.wanted > 0:
            _stopping.watch(self)

    def finish(self, connected):
        self.leaving = True
        with self.session.guard("collecting from Ray"):
            if connected:
                _collecting.collect(self)
            else:
                self.session.blind(
                    "ray-left",
                    "Ray was left in a way that is not followed, before the records of its nodes were collected: what processes "
                    "on other machines trained or sampled may be missing.",
                )


def _prepared(session, args, kwargs):
    """None: nothing is done to this call."""
    address = args[0] if args else kwargs.get("address")
    if str(address or os.environ.get("RAY_ADDRESS") or "").startswith("ray://"):
        session.blind(
            "ray-client",
            "The script reaches its cluster through Ray Client (ray://...), which carries nothing to the workers: what they train "
            "and sample is not seen. Run it on a machine of the cluster, with RAY_ADDRESS=auto or HOST:PORT.",
        )
        return None
    if not _can_hook():
        session.blind(
            "ray-version",
            "This version of Ray cannot run a hook in its workers, and so what they train and sample is not seen: it takes Ray 2.7 "
            "or a later one.",
        )
        return None
    config = kwargs.get("job_config")
    environment = dict(kwargs.get("runtime_env") or getattr(config, "runtime_env", None) or {})
    own = environment.get(HOOK)
    injected = {}
    if own is None and os.environ.get(JOB_CONFIG):
        own, injected = _submitted(os.environ[JOB_CONFIG])
    if own is not None and not isinstance(own, str) and not callable(own):
        return None
    job = Job(session, dict(kwargs), injected)
    environment[HOOK] = hook_for(job.facts(), own)
    job.arguments["runtime_env"] = environment
    return job


def _can_hook():
    from ray.runtime_env import RuntimeEnv

    return HOOK in RuntimeEnv.known_fields


def _submitted(text):
    """Of `ray job submit`: its hook, and the environment in which Ray does not find it beside ours."""
    config = json.loads(text)
    environment = config.get("runtime_env") or {}
    own = environment.pop(HOOK, None)
    by_variable = (environment.get("env_vars") or {}).pop(HOOK_VARIABLE, None)
    if own is None and by_variable is None:
        return None, {}
    return own or by_variable, {JOB_CONFIG: json.dumps(config)}


def _set(variables):
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
