"""Several processes that answer as one, as torchrun starts them: rank 0 has the pipe to the harness, and every rank calls the op.

They talk over sockets of their own. A collective for it would have to wait behind those of the trainer; and where one rank has
failed and another waits for it in a collective, which may be for ever, somebody must still hear of it."""

import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from multiprocessing.connection import Client, Listener, wait

from . import _channel

# From one rank's failure to the decision that those who have not come back wait for it. Well below the harness's own deadline.
# bound (wall): several ranks: waiting for the others after one has failed; the failure is the answer, and the trainer is started anew
PATIENCE_SECONDS = 3.0
# For the harness or the launcher to end all of them, which they do at once; where nobody does, they end themselves.
# bound (wall): several ranks: waiting for the harness or torchrun to end all of them; the rank ends itself
LEAVE_SECONDS = 2.0
# How often a rank looks whether its launcher is still there.
# pace
LOOK_SECONDS = 0.1
# What every rank answers begins with one of these, and with nothing else.
_OK, _ERROR = '"ok":', '"error":'


def follow(outcome, rank, count):
    """Any rank but the first: does what rank 0 does, until that one ends."""
    _end_with_the_launcher()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as rank 0: the harness decides
    with _meet(rank, count) as connection:
        try:
            while True:
                _, body = outcome(connection.recv_bytes())
                connection.send_bytes(body.encode("ascii"))
        except (EOFError, OSError):
            pass  # rank 0 has gone; there is nobody left to tell


class Leader:
    """Rank 0: a function from a request to the outcome for all ranks. It does not return where only a fresh start helps."""

    def __init__(self, outcome, count):
        self._outcome = outcome
        self._count = count

    def __enter__(self):
        _end_with_the_launcher()
        self._others = _meet(0, self._count)
        self._news = threading.Condition()
        self._over = False
        self._line, self._mine, self._heard = b"", "", {}
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_):
        with self._news:
            self._over = True
        for other in self._others.values():
            other.close()

    def __call__(self, line):
        if not line.strip():
            return None
        with self._news:
            self._line, self._mine, self._heard = line, None, {}
        for other in self._others.values():
            try:
                other.send_bytes(line)
            except OSError:
                pass  # it has gone, and the listener hears of it
        identity, mine = self._outcome(line)
        with self._news:
            self._mine = mine
            self._await_others()
            if len(self._heard) < len(self._others):
                self._end()
            return identity, agreed(self._bodies(), self._count)

    def _await_others(self):
        """Until all are back; where somebody has failed, not much longer than that."""
        begun, failing, told = time.monotonic(), None, False
        while len(self._heard) < len(self._others):
            now = time.monotonic()
            if failing is None and any(map(_failed, self._bodies().values())):
                failing = now
            left = None if told and failing is None else (failing or begun) + PATIENCE_SECONDS - now
            if left is None or left > 0:
                self._news.wait(left)
            elif failing is not None:
                return
            else:
                told = True
                late = [rank for rank in self._others if rank not in self._heard]
                _say("%.0f s after rank 0, %s not come back" % (PATIENCE_SECONDS, _named(late, " has", " have")))

    def _listen(self):
        ranks = {other: rank for rank, other in self._others.items()}
        while not self._over:
            try:
                for other in wait(list(ranks)):
                    self._hear(ranks[other], other.recv_bytes().decode("ascii"))
            except (EOFError, OSError):
                with self._news:
                    if not self._over:
                        # No answer: the launcher ends the others and itself, and says which one was first.
                        _say("rank %d has ended" % ranks[other])
                        time.sleep(LEAVE_SECONDS)
                        os._exit(1)
                return

    def _hear(self, rank, body):
        with self._news:
            self._heard[rank] = body
            self._news.notify()
            if self._mine is None and _failed(body):
                timer = threading.Timer(PATIENCE_SECONDS, self._give_up, [self._heard])
                timer.daemon = True
                timer.start()

    def _give_up(self, heard):
        """Rank 0 itself waits in a collective for one that has failed."""
        with self._news:
            if self._mine is None and self._heard is heard:
                self._end()

    def _end(self):
        """Some rank waits in a collective for one that has failed: the harness hears who, and starts all of them anew."""
        error = json.loads("{" + agreed(self._bodies(), self._count) + "}")["error"]
        answer = {"id": json.loads(self._line)["id"], "error": dict(error, restart=True)}
        _channel.write(json.dumps(answer) + "\n")
        time.sleep(LEAVE_SECONDS)
        os._exit(1)

    def _bodies(self):
        mine = {} if self._mine is None else {0: self._mine}
        return {**mine, **self._heard}


def agreed(bodies, count):
    """One outcome of all ranks, by {rank: outcome}. What they do not agree about is an error that says who: in training they would
    wait for each other."""
    mine = bodies.get(0)
    failed = sorted(rank for rank, body in bodies.items() if body.startswith(_ERROR))
    if failed:
        error = json.loads("{" + bodies[failed[0]] + "}")["error"]
        # Where only rank 0 speaks, it alone can return what is no answer; that has no traceback.
        if len(failed) == count or (failed == [0] and "traceback" not in error):
            return bodies[failed[0]]
        error["message"] += " (on %s of %d alone)" % (_named(failed), count)
        return _ERROR + json.dumps(error)
    declined = sorted(rank for rank, body in bodies.items() if not body.startswith(_OK))
    if not declined or len(declined) == count:
        return mine
    ((kind, why),) = json.loads("{" + bodies[declined[0]] + "}").items()
    message = "lossproof.%s(%s) on %s of %d alone; raise it on every rank, or on none: they would wait for each other"
    return _ERROR + json.dumps({"message": message % (kind.capitalize(), json.dumps(why), _named(declined), count)})


def _failed(body):
    return not body.startswith(_OK)


def _named(ranks, one="", several=""):
    numbers = ", ".join(map(str, ranks))
    return "rank %s%s" % (numbers, one) if len(ranks) == 1 else "ranks %s%s" % (numbers, several)


def _say(sentence):
    sys.stderr.write("lossproof: %s\n" % sentence)
    sys.stderr.flush()


def _meet(rank, count):
    """Rank 0: {rank: connection}. Any other: its connection to rank 0. They find each other by a process group, and use a gloo group of their
    own, because the trainer's may need a GPU for each word."""
    try:
        from torch import distributed

        if not distributed.is_initialized():
            distributed.init_process_group("gloo")
    except (ImportError, ValueError, RuntimeError) as error:
        message = "RANK, LOCAL_RANK and WORLD_SIZE say that this is rank %d of %d; unset them where no launcher has set them (no other rank is found: %s)"
        raise RuntimeError(message % (rank, count, error)) from error
    group = distributed.new_group(backend="gloo")
    told = [None]
    if rank == 0:
        secret, folder = os.urandom(32), tempfile.mkdtemp(prefix="lossproof-")
        # A path of our own, which nobody else can look into; where there are no such sockets, one that the system names.
        address = os.path.join(folder, "ranks") if os.name == "posix" else None
        listener = Listener(address, backlog=count, authkey=secret)
        told = [(listener.address, secret)]
    distributed.broadcast_object_list(told, src=0, group=group)
    if rank > 0:
        address, secret = told[0]
        connection = Client(address, authkey=secret)
        connection.send(rank)
        return connection
    try:
        accepted = [listener.accept() for _ in range(1, count)]
    finally:
        listener.close()
        shutil.rmtree(folder, ignore_errors=True)
    return {connection.recv(): connection for connection in accepted}


def _end_with_the_launcher():
    """torchrun gives each rank a session of its own: who kills torchrun's does not reach it."""
    launcher = os.getppid()

    def watch():
        while os.getppid() == launcher:
            time.sleep(LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
