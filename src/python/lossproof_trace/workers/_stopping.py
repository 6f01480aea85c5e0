"""Ends the script when the steps asked for are made, though by its workers: they tell the board, and the driver, which may wait for
an answer anywhere, is called away by a signal. It ends as it would by sys.exit(0): what is to be done at its end is done.
"""

import signal
import threading
import time

from ..recording import _ending

# How often the board is looked at; how long those that train, too, have for their last step; and how long the script has to leave.
# pace
LOOK = 0.25
# bound (wall): `trace` under Ray: waiting for the steps of the other workers; their steps are missing in the trace, which says so
OTHERS = 20.0
# bound (wall): `trace` under Ray: waiting for the script to end after the last step; it is ended
TO_LEAVE = 5.0
MOST_CALLED = 3


def watch(job):
    main = threading.current_thread() is threading.main_thread()
    number = getattr(signal, "SIGRTMIN", None)
    # Of the signals that nobody has a use for; the script's own handlers stay as they are.
    number = signal.SIGUSR2 if number is None else number + 11
    if main and signal.getsignal(number) in (signal.SIG_DFL, None):
        signal.signal(number, _leave)
    else:
        number = None
    threading.Thread(target=_watch, args=(job, number), name="lossproof_trace", daemon=True).start()


def _leave(*_):
    raise SystemExit(0)


def _watch(job, number):
    first = None
    while not job.leaving:
        time.sleep(LOOK)
        try:
            done = job.board.names("done")
            if not done:
                continue
            first = first or time.monotonic()
            if time.monotonic() - first < OTHERS and job.board.names("training") - done:
                continue
        except Exception:  # noqa: BLE001 - Ray has left, or is about to: the script ends by itself
            continue
        break
    if job.leaving:
        return
    job.session.done_elsewhere = True
    for _ in range(MOST_CALLED if number is not None else 0):
        signal.pthread_kill(threading.main_thread().ident, number)
        until = time.monotonic() + TO_LEAVE
        while time.monotonic() < until:
            if job.leaving:
                return
            time.sleep(LOOK)
    # A script that catches SystemExit and goes on, or a main thread that cannot be called.
    job.finish(True)
    _ending.finish_now(job.session)
