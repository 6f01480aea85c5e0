"""At the script's end, while Ray is still there: every worker is told to finish, and what nodes without our folder recorded is brought
into it. What cannot be brought is said.
"""

import os
import shutil

from ._gathering import records_class
from ._worker import machine, mark_of

# So long a living worker has for its last record, and a node for each answer.
# bound (wall): `trace` under Ray: waiting for the last record of a worker; its trace has no end, which is said
LAST_RECORD = 5.0
# bound (wall): `trace` under Ray: waiting for the answer of a node; its records are missing, which is said
ANSWER = 60.0
CHUNK = 8 << 20


def collect(job):
    """Once for each `ray.init`."""
    session, board = job.session, job.board
    failed = sorted(set(board.entries("failed").values()))
    if failed:
        session.blind("ray-worker", "The tracer could not begin in a worker of Ray, which was not seen: %s." % failed[0])
    nodes = {}
    for worker in board.entries("worker").values():
        nodes.setdefault(worker["node"], []).append(worker)
    local = records_class()()
    pinned = []
    for node, workers in sorted(nodes.items()):
        if all(worker["shared"] and worker["machine"] == machine() is not None for worker in workers):
            local.finish(workers, LAST_RECORD)
            local.remove({worker["base"] for worker in workers})
        else:
            pinned.append((node, workers))
    if pinned:
        _collect_from(job, pinned)
    board.clear()
    try:
        os.unlink(mark_of(session.folder, job.token))
    except OSError:
        pass


def _collect_from(job, nodes):
    """Of nodes that only Ray reaches: an actor on each, all of them begun before the first is waited for."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    alive = {node["NodeID"] for node in ray.nodes() if node.get("Alive", node.get("alive"))}
    remote = ray.remote(num_cpus=0)(records_class())
    begun = []
    for node, workers in nodes:
        if node not in alive:
            _lost(job.session, workers, "its node is gone")
            continue
        actor = remote.options(
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id=node, soft=False),
            runtime_env={"env_vars": {"LOSSPROOF_TRACE_COLLECTS": "1"}},
        ).remote()
        begun.append((actor, workers, actor.finish.remote(workers, LAST_RECORD)))
    for actor, workers, finished in begun:
        try:
            ray.get(finished, timeout=ANSWER)
            for folder in sorted({worker["folder"] for worker in workers if not worker["shared"]}):
                _bring(actor, folder, job.session.folder)
            ray.get(actor.remove.remote(sorted({worker["base"] for worker in workers})), timeout=ANSWER)
        except Exception as error:  # noqa: BLE001 - what is lost is said, and the other nodes are asked
            _lost(job.session, workers, "%s: %s" % (type(error).__name__, (str(error).strip() or "no reason given").split("\n")[0]))


def _bring(actor, source, target):
    """A file is there whole or not at all."""
    import ray

    for name, size in ray.get(actor.listed.remote(source), timeout=ANSWER):
        path = os.path.join(target, *_words(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".part", "wb") as file:
            for at in range(0, size, CHUNK):
                file.write(ray.get(actor.read.remote(source, name, at, min(CHUNK, size - at)), timeout=ANSWER))
        shutil.move(path + ".part", path)


def _words(name):
    """Of a path that another machine says: nothing of it leads out of the folder."""
    return [word for word in name.replace("\\", "/").split("/") if word not in ("", ".", "..")]


def _lost(session, workers, why):
    apart = [worker for worker in workers if not worker["shared"]]
    if not apart:
        return
    told = ", ".join("%s (pid %d)" % (worker["name"] or "a worker", worker["pid"]) for worker in apart[:3])
    more = "" if len(apart) <= 3 else " and %d more" % (len(apart) - 3)
    session.blind(
        "ray-lost-" + apart[0]["node"][:12],
        "The records of %s%s on %s could not be collected (%s): its samples and training are unknown."
        % (told, more, apart[0]["host"], why.rstrip(".")),
    )
