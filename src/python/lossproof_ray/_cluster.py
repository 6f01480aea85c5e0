"""The cluster behind an address: it is there, it is of our version, and what a shard asks for is on one of its nodes."""

import os
import re
import socket
import tempfile
import threading
import time

from ._say import Problem, say

# What we are tested with.
TESTED = "2.60.0"
GCS_PORT = 6379
# bound (wall): Ray: waiting to hear that a node has died; its worker is said to have been killed
FATE_SECONDS = 3.0
# pace
LOOK = 0.2


def imported():
    """Ray, or a sentence on how to get it."""
    try:
        import ray

        return ray
    except ImportError as error:
        import sys

        missing = getattr(error, "name", None) or "ray"
        what = "has no ray" if missing.split(".")[0] == "ray" else "cannot import ray (no %s)" % missing
        raise Problem(
            '%s %s: `%s -m pip install "ray[default]==%s"`, in the version that the cluster has, or name another by --python'
            % (sys.executable, what, sys.executable, TESTED)
        ) from None


def answers(address, patience):
    """Refuses an address where nothing can be reached, before Ray waits for it a minute and a half."""
    if address == "auto":
        return
    scheme, _, rest = address.rpartition("://")
    if scheme not in ("", "ray"):
        raise Problem(
            "--ray %s is no address of a cluster: it is HOST:%d, as `ray start` prints it, ray://HOST:10001 or auto" % (address, GCS_PORT)
        )
    host, _, port = rest.rpartition(":")
    host = host.strip("[]")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise Problem("--ray %s names no host and port: it is HOST:%d, as `ray start` prints it, ray://HOST:10001 or auto" % (address, GCS_PORT))
    try:
        socket.create_connection((host, int(port)), timeout=patience).close()
    except socket.timeout:
        raise Problem(silent(address, patience)) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise Problem("no Ray cluster answers at %s: %s; `ray start --head` prints the address of one" % (address, why)) from None


def silent(address, patience):
    return "no Ray cluster answers at %s within %g s; is it the address that `ray start --head` printed, and the cluster up?" % (address, patience)


def connect(ray, address, patience, runtime_env=None):
    """Ray's own connection. `patience`: what listens there may be no Ray, and then its own wait is a minute and a half."""
    with _Overheard() as overheard:
        watchdog = None
        if patience is not None:
            watchdog = threading.Timer(patience, lambda: _give_up(address, patience, overheard.text()))
            watchdog.daemon = True
            watchdog.start()
        try:
            return ray.init(address=address, runtime_env=runtime_env, log_to_driver=False, logging_level="ERROR", configure_logging=False)
        except BaseException as error:
            raise Problem(_refusal(ray, address, patience, str(error) + overheard.text(), error)) from error
        finally:
            if watchdog is not None:
                watchdog.cancel()


def _give_up(address, patience, overheard):
    say(problem=locked(address) if _NO_TOKEN in overheard else silent(address, patience))
    os._exit(2)  # the thread that waits cannot be ended


# Ray says so on standard error alone, tries again, and ends with "failed to connect".
_NO_TOKEN = "InvalidAuthToken"


def locked(address):
    return (
        "the cluster at %s asks for a token, and the one here is missing or another: set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN, "
        "or RAY_AUTH_TOKEN_PATH, to that of the cluster" % address
    )


class _Overheard:
    """What is written on standard error meanwhile, by whatever library; handed on at the end."""

    def __enter__(self):
        self._file = tempfile.TemporaryFile()
        self._true = os.dup(2)
        os.dup2(self._file.fileno(), 2)
        return self

    def text(self):
        return os.pread(self._file.fileno(), 1 << 20, 0).decode("utf-8", "replace")

    def __exit__(self, *_):
        os.dup2(self._true, 2)
        os.close(self._true)
        os.write(2, self.text().encode())
        self._file.close()


def _refusal(ray, address, patience, text, error):
    if _NO_TOKEN in text:
        return locked(address)
    versions = re.findall(r"^\s*(Ray|Python): (\S+)", text, re.M)
    if "ersion mismatch" in text and len(versions) == 4:
        cluster, ours = (" and ".join("%s %s" % pair for pair in pairs) for pairs in (versions[:2], versions[2:]))
        wanted = dict(versions[:2])["Ray"]
        hint = (
            '`pip install "ray[default]==%s"`, or name a Python that has it by --python' % wanted
            if wanted != ray.__version__
            else "name a Python of that version by --python"
        )
        return "the cluster at %s has %s, and here are %s: %s" % (address, cluster, ours, hint)
    if "exceeds the maximum size" in text:
        return text
    if isinstance(error, SystemExit):
        return silent(address, patience or 0)
    if isinstance(error, ConnectionError):
        return "no Ray cluster answers at %s: %s" % (address, first_line(text))
    return "Ray does not take it: %s" % first_line(text)


def first_line(text):
    return next((line.strip() for line in text.splitlines() if line.strip()), "it says nothing").rstrip(".")


def alive(ray):
    return [node for node in ray.nodes() if node.get("Alive")]


OPTIONS = {"CPU": "--cpus-per-worker", "GPU": "--gpus-per-worker", "memory": "--memory-per-worker"}


def asked(job):
    """What one shard asks for, by Ray's own names."""
    wanted = {"CPU": job.cpus, "GPU": job.gpus, "memory": job.memory or 0}
    return {name: amount for name, amount in wanted.items() if amount}


def unmet(ray, job):
    """Why no node could ever run a shard, or None."""
    wanted = asked(job)
    nodes = [node.get("Resources", {}) for node in alive(ray)]
    if any(all(node.get(name, 0) >= amount for name, amount in wanted.items()) for node in nodes):
        return None
    if _may_grow(wanted):
        return None
    for name, amount in wanted.items():
        most = max([node.get(name, 0) for node in nodes], default=0)
        if most < amount:
            return "a shard asks for %s, and no node of the cluster has more than %s (%s)" % (
                _amount(name, amount),
                _amount(name, most),
                OPTIONS[name],
            )
    everything = " with ".join(_amount(name, amount) for name, amount in wanted.items())
    return "a shard asks for %s, and no single node of the cluster has all of it" % everything


def _amount(name, amount):
    return "%.1f GiB of memory" % (amount / 2**30) if name == "memory" else "%g %s%s" % (amount, name, "" if amount == 1 else "s")


def _may_grow(wanted):
    """A cluster that starts nodes when they are asked for has what it may have, not what it has now."""
    try:
        from ray._private.state import state

        most = state.get_max_resources_from_cluster_config()
    except Exception:
        return False
    return bool(most) and all(most.get(name, 0) >= amount for name, amount in wanted.items())


def room(ray, job):
    """Shards that the cluster has room for at once, at least one."""
    wanted = asked(job)
    if not wanted:
        return max(1, int(ray.cluster_resources().get("CPU", 1)))
    return max(1, sum(min(int(node.get("Resources", {}).get(name, 0) // amount) for name, amount in wanted.items()) for node in alive(ray)))


def name_of(address, node):
    """A node as it is said: two may share an address."""
    return "%s (%s)" % (address, node[:8]) if node else address


def fate_of(ray, node, error):
    """Why a shard was lost, in a few words. A node's death is known a moment after that of its workers."""
    text = str(error)
    # Of a worker that is killed by others Ray says that memory may have been why.
    if re.search("running low on memory|due to memory pressure", text):
        return "Ray killed its worker for memory"
    until = time.monotonic() + FATE_SECONDS
    while node:
        if _NODE_DIED.search(text) or not any(each["NodeID"] == node for each in alive(ray)):
            return "the node died"
        if time.monotonic() > until:
            break
        time.sleep(LOOK)
    return "its worker was killed"


_NODE_DIED = re.compile("node has died|node was terminated|node is dead")
