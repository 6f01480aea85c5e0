"""How a traced process ends: the `end` record, and the script's clean end once the steps asked for are done."""

import atexit
import os
import sys
import threading
import time

# A script that catches SystemExit and goes on is told so often, then it is ended from outside.
MOST_RAISED = 3
# What a message may take of the file; some carry a whole batch in their text.
LONGEST_MESSAGE = 2000


def install(session):
    # First registered is last called: the script's own handlers still belong to it.
    atexit.register(_at_exit, session)


def stop(session):
    """The steps asked for are done. Raises SystemExit, which runs finally blocks and exit handlers and ends with code 0."""
    with session.ending:
        with session.guard("ending"):
            _write_end(session, "steps", None)
        session.ended = "steps"
    leave(session)


def leave(session):
    if session.leaving is not None:
        session.leaving()
        return
    session.times_raised += 1
    elsewhere = threading.current_thread() is not threading.main_thread()
    if elsewhere or session.times_raised > MOST_RAISED:
        # SystemExit would end only this thread.
        _flush()
        os._exit(0)
    raise SystemExit(0)


def _flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001 - closed, or gone
            pass


def watch_child(session):
    """Children of multiprocessing that were forked run no exit handlers, but their own finalisers."""
    processes = sys.modules.get("multiprocessing.process")
    if processes is None or processes.parent_process() is None:
        return
    from multiprocessing import util

    # Exceptions of the child are being handled while it is called: sys.exc_info() has them. Behind all other finalisers.
    util.Finalize(None, _finish, args=(session, sys.exc_info), exitpriority=-100)


def _at_exit(session):
    if session.ended == "steps":
        _leave_group(session)
        return
    if session.done_elsewhere:
        # Whatever was made of our SystemExit on the way: this script has not failed. All other exit handlers have run.
        finish_now(session)
    # Of an exception that nothing caught, CPython keeps it here before it prints it: no excepthook to replace.
    _finish(session, lambda: (None, getattr(sys, "last_value", None), None))


def finish(session):
    """Ended by us, though by nothing of its own."""
    _finish(session, lambda: (None, None, None))


def finish_now(session):
    finish(session)
    _flush()
    os._exit(0)


def _finish(session, failure):
    # A worker of Ray may be told to end while it does so by itself: who comes second waits until all is written.
    with session.ending:
        if session.ended is not None or not session.opened:
            return
        with session.guard("ending"):
            error = failure()[1]
            if error is None or isinstance(error, SystemExit):
                _write_end(session, "steps" if session.done_elsewhere else "finished", None)
            else:
                text = "%s: %s" % (type(error).__name__, error)
                _write_end(session, "exception", text[:LONGEST_MESSAGE])
        session.ended = "finished"


def _write_end(session, reason, exception):
    for listener in session.on_ending:
        with session.guard("ending"):
            listener(session)
    if session.compiled and not session.trained:
        session.blind(
            "compiled",
            "torch.compile was called on %s, and no forward pass of a language model for training was seen: compiled "
            "modules can run without their hooks. Leave --keep-compiled out to trace it."
            % ", ".join(sorted(set(session.compiled))),
        )
    if session.one_graph and session.trained and session.step == 0:
        session.blind(
            "compiled-step",
            "torch.compile was called with fullgraph=True, and no optimiser step was seen, which may be a part of the "
            "graph: what belongs to which step is unknown. Leave --keep-compiled out to trace it.",
        )
    session.write(
        "end",
        reason=reason,
        exception=exception,
        torch="torch" in sys.modules,
        modules_called=bool(session.modules_called),
        tracer_seconds=round(session.seconds, 6),
        seconds=round(time.monotonic() - session.started, 6),
    )


def _leave_group(session):
    """The script's own call of it was cut off, and torch warns of groups that are left open."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None:
        return
    with session.guard("process group"):
        if distributed.is_available() and distributed.is_initialized():
            distributed.destroy_process_group()
