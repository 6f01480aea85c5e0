"""Runs the shards: one actor a try, asked again and again for what its engine has written. What the cluster loses is run again."""

import inspect
import json

from . import _guard, _node
from ._cluster import asked, fate_of, first_line, name_of, unmet
from ._say import Problem, say

# Seconds that a node waits for something to say, and we for any node: how long a Ctrl-C may go unheard.
# pace
PATIENCE = 2.0
# pace
HEARD = 0.25


class Try:
    """One attempt at one shard."""

    def __init__(self, shard, number, actor):
        self.shard = shard
        self.number = number
        self.actor = actor
        self.offset = 0
        # The beginning of a line whose end is not written yet.
        self.rest = b""
        self.node = None
        self.address = None
        # Where it has the folder that was taken along.
        self.folders = []

    def where(self):
        return name_of(self.address, self.node) if self.address else None


class Supervision:
    def __init__(self, ray, job, shards, cancelled, enough):
        self._ray = ray
        self._job = job
        self._shards = shards
        self._cancelled = cancelled
        self._enough = enough
        self._retries = job.retries
        # What is waited for, and the try that it is of.
        self._waiting = {}
        ray.cloudpickle.register_pickle_by_value(_node)
        self._told = ray.put(job.for_node(inspect.getsource(_guard)))
        wanted = asked(job)
        self._actor = ray.remote(_node.Shard).options(
            num_cpus=wanted.get("CPU", 0),
            num_gpus=wanted.get("GPU", 0),
            memory=wanted.get("memory"),
            max_restarts=0,
            max_task_retries=0,
        )

    def run(self):
        """Until every shard has ended, is lost for good or is called off. False: it was cancelled."""
        try:
            for shard in range(1, self._shards + 1):
                self._begin(shard, 1)
            while self._waiting:
                if self._cancelled.is_set():
                    return False
                if self._enough.is_set():
                    self._call_off()
                    continue
                ready, _ = self._ray.wait(list(self._waiting), num_returns=1, timeout=HEARD)
                for ref in ready:
                    self._hear(ref, self._waiting.pop(ref))
            return True
        finally:
            for attempt in self._waiting.values():
                self._let_go(attempt)

    def _call_off(self):
        """What has not started never will; what runs goes on."""
        self._enough.clear()
        self._retries = 0
        for ref, attempt in list(self._waiting.items()):
            if attempt.address is None:
                self._let_go(attempt)
                del self._waiting[ref]

    def _begin(self, shard, number):
        actor = self._actor.remote()
        attempt = Try(shard, number, actor)
        self._waiting[actor.start.remote(self._told, shard, self._shards)] = attempt

    def _hear(self, ref, attempt):
        errors = self._ray.exceptions
        try:
            heard = self._ray.get(ref)
        except errors.RuntimeEnvSetupError as error:
            self._let_go(attempt)
            raise Problem("Ray cannot make the environment of a shard: %s" % _cause(str(error))) from None
        except errors.ActorUnavailableError:
            # The network was gone for a moment: nothing is lost, what was read is asked for again.
            if attempt.address is not None:
                self._ask(attempt)
            else:
                self._lost(attempt, "the node could not be reached")
            return
        except errors.RayTaskError as error:
            self._let_go(attempt)
            raise Problem("the shard's worker failed in a way that is a defect of lossproof, please report it: %s" % error) from None
        except errors.RayError as error:
            self._lost(attempt, fate_of(self._ray, attempt.node, error))
            return
        if attempt.address is None:
            self._started(attempt, heard)
        else:
            self._read(attempt, *heard)

    def _started(self, attempt, here):
        attempt.node, attempt.address, attempt.folders = here["node"], here["address"], here["folders"]
        if "problem" in here:
            self._let_go(attempt)
            say(shard=attempt.shard, unfit=here["problem"], node=attempt.where())
            return
        say(shard=attempt.shard, started={"node": attempt.where(), "pid": here["pid"]}, **{"try": attempt.number})
        self._ask(attempt)

    def _ask(self, attempt):
        self._waiting[attempt.actor.read.remote(attempt.offset, PATIENCE)] = attempt

    def _read(self, attempt, written, end):
        attempt.offset += len(written)
        *lines, attempt.rest = (attempt.rest + written).split(b"\n")
        for line in lines:
            say(shard=attempt.shard, line=self._at_home(attempt, line.decode("utf-8", "replace"), _in_json))
        if end is None:
            self._ask(attempt)
            return
        code = end["code"]
        if code is None or code < 0:
            self._lost(attempt, end["why"] or "its process was killed by signal %d" % -code)
            return
        self._let_go(attempt)
        say(shard=attempt.shard, ended={"code": code, "stderr": self._at_home(attempt, end["stderr"], str)}, node=attempt.where())

    def _at_home(self, attempt, text, written):
        """What names a file of the folder there names it here: the folder there is gone when this is read."""
        for folder in attempt.folders:
            text = text.replace(written(folder), written(self._job.root))
        return text

    def _lost(self, attempt, why):
        self._let_go(attempt)
        again = attempt.number <= self._retries
        never = unmet(self._ray, self._job) if again else None
        if never is not None:
            again, why = False, "%s, and of what is left %s" % (why, never)
        say(shard=attempt.shard, lost=why, node=attempt.where(), again=again, **{"try": attempt.number})
        if again:
            self._begin(attempt.shard, attempt.number + 1)

    def _let_go(self, attempt):
        """Its worker ends, and with it what it has started; what it asked for is free again."""
        try:
            self._ray.kill(attempt.actor, no_restart=True)
        except Exception:
            pass  # it is gone already


def _in_json(path):
    return json.dumps(path, ensure_ascii=False)[1:-1]


def _cause(text):
    """Of Ray's many lines the one that says what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "rror" in line), first_line(text)).rstrip(".")
