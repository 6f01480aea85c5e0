"""`python -m lossproof_ray`: reads the job, runs it, and ends. The end of standard input, or a signal, cancels everything; the
line "enough" lets what runs go on, and starts nothing more.
"""

import os
import signal
import sys
import threading

from ._cluster import alive, answers, connect, imported, room, unmet
from ._environment import runtime_env_of, too_large
from ._job import Job
from ._say import Problem, say, take_over

DONE = 0
REFUSED = 2
CANCELLED = 130
# Seconds.
# bound (wall): Ray: waiting for the engine to read the rest; the driver ends
LAST_PATIENCE = 60


def main():
    take_over()
    cancelled, enough, heard = threading.Event(), threading.Event(), threading.Event()
    # Until shards run there is nothing to clear away, and Ray waits for a cluster without hearing anything.
    running = threading.Event()

    def cancel(*_):
        heard.set()
        if not running.is_set():
            os._exit(CANCELLED)
        cancelled.set()

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, cancel)
    job = Job(sys.stdin.readline())
    threading.Thread(target=listen, args=(enough, cancel), daemon=True).start()
    try:
        code = run(job, cancelled, enough, running)
    except Problem as problem:
        running.set()
        say(problem=str(problem))
        code = REFUSED
    # A pipe is read to its end only as long as who writes to it is there: our input ends when all of it was heard.
    say(over=True)
    heard.wait(LAST_PATIENCE)
    return code


def listen(enough, cancel):
    for line in sys.stdin:
        if line.strip() == "enough":
            enough.set()
    cancel()


def run(job, cancelled, enough, running):
    ray = imported()
    answers(job.address, job.patience)
    # Twice: the first connection says in time whether there is a cluster at all; the second sends the folder, for as long as it takes.
    connect(ray, job.address, job.patience)
    never = unmet(ray, job)
    ray.shutdown()
    if never is not None:
        raise Problem(never)
    try:
        joined = connect(ray, job.address, None, runtime_env_of(job))
    except Problem as problem:
        raise too_large(job.root, str(problem)) if "exceeds the maximum size" in str(problem) else problem
    shards = min(job.most, job.shards or room(ray, job))
    resources = ray.cluster_resources()
    say(
        cluster={
            "ray": ray.__version__,
            "nodes": len(alive(ray)),
            "cpus": resources.get("CPU", 0),
            "gpus": resources.get("GPU", 0),
            "dashboard": getattr(joined, "dashboard_url", None) or None,
            "shards": shards,
        }
    )
    from ._supervise import Supervision

    running.set()
    finished = Supervision(ray, job, shards, cancelled, enough).run()
    ray.shutdown()
    return DONE if finished else CANCELLED


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # threads of Ray's may hang on, and standard input is still read
