"""What Ray sends to the nodes: the folder where the command was typed, and what the user lays over that."""

import os

from ._say import Problem

# Ours, and of one machine: runs are others each time, and the folder would be sent anew for them.
LEFT_BEHIND = [".lossproof/last-run.ndjson", ".lossproof/*.lock", ".lossproof/shards"]
# Entries of the folder that are named when it is too large.
NAMED = 3


def runtime_env_of(job):
    """Ray's own `runtime_env` of all shards."""
    given = job.runtime_env or {}
    ours = {"working_dir": job.root, "excludes": LEFT_BEHIND + ["**/" + each for each in LEFT_BEHIND]}
    merged = dict(ours, **given)
    if "excludes" in given:
        merged["excludes"] = ours["excludes"] + list(given["excludes"])
    return merged


def too_large(root, said):
    """Ray's words on a folder that it does not take, and what in it is large."""
    sizes = sorted(((_size(os.path.join(root, name)), name) for name in os.listdir(root)), reverse=True)
    largest = ", ".join("%s %d MiB" % (name, size >> 20) for size, name in sizes[:NAMED] if size >> 20)
    return Problem(
        "the folder %s is too large to be sent to the nodes (%s): name in its .rayignore what the adapter does not need%s"
        % (root, said.split(". ")[0], "; largest are " + largest if largest else "")
    )


def _size(path):
    if not os.path.isdir(path) or os.path.islink(path):
        return os.lstat(path).st_size
    return sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(path) for name in names)
