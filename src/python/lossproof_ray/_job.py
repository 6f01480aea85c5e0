"""What is to be done, as the command line says it."""

import json


class Job:
    """One line of JSON; PROTOCOL of nobody but `src/cli/ray/driver.ts`, which writes it."""

    def __init__(self, line):
        said = json.loads(line)
        self.address = said["address"]
        # Seconds that the address is given to answer.
        self.patience = said["patience"]
        # None: as many as the cluster has room for.
        self.shards = said["shards"]
        # More would have nothing to do.
        self.most = said["most"]
        # The folder that is taken along, and the one in it where the command was typed.
        self.root = said["root"]
        self.place = said["place"]
        # Words of the engine's command line: its options, and the adapter's command.
        self.options = said["options"]
        self.adapter = said["adapter"]
        # Where it lies here, and its version.
        self.main = said["main"]
        self.version = said["version"]
        self.environment = said["environment"]
        # In the root: from there; elsewhere: absolute.
        self.pythonpath = said["pythonpath"]
        # What one shard asks for: cpus, gpus, bytes of memory.
        self.cpus = said["cpus"]
        self.gpus = said["gpus"]
        self.memory = said["memory"]
        self.retries = said["retries"]
        # The user's, laid over ours; or None.
        self.runtime_env = said["runtime_env"]

    def for_node(self, guard):
        """What a node is told, as plain values; `guard` is the source of `_guard`."""
        return {
            "place": self.place,
            "options": self.options,
            "adapter": self.adapter,
            "main": self.main,
            "version": self.version,
            "environment": self.environment,
            "pythonpath": self.pythonpath,
            "guard": guard,
        }
