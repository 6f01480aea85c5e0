"""What is done on a node when the script is over: the workers there are told to write their last record, and their files are read.

Other nodes have nothing of ours: the class is made inside of a function, so that Ray carries it by value.
"""


def records_class():
    class LossproofTraceRecords:
        def finish(self, workers, seconds):
            """Tells the living. File to what became of its process: `ended` it wrote its last record, `alive` it did not,
            `gone` it had been killed."""
            import os
            import time

            for base in {worker["base"] for worker in workers}:
                try:
                    with open(os.path.join(base, "over"), "w"):
                        pass
                except OSError:
                    pass
            pace = 0.05
            until = time.monotonic() + seconds
            states = {}
            for worker in workers:
                path = os.path.join(worker["folder"], worker["file"])
                while True:
                    # In this order: who was dead before has written all that it will.
                    living = self.living(worker["pid"])
                    if self.ended(path):
                        states[worker["file"]] = "ended"
                    elif not living:
                        states[worker["file"]] = "gone"
                    elif time.monotonic() > until:
                        states[worker["file"]] = "alive"
                    else:
                        time.sleep(pace)
                        continue
                    break
            return states

        def living(self, pid):
            import os

            try:
                os.kill(pid, 0)
                with open("/proc/%d/stat" % pid, encoding="utf-8", errors="replace") as file:
                    return file.read().rsplit(")", 1)[-1].split()[0] != "Z"
            except ProcessLookupError:
                return False
            except OSError:
                return True

        def ended(self, path):
            try:
                with open(path, "rb") as file:
                    file.seek(0, 2)
                    file.seek(max(0, file.tell() - 16384))
                    return any(line.startswith(b'{"kind":"end"') for line in file.read().split(b"\n"))
            except OSError:
                return False

        def listed(self, folder):
            """Paths below it, with their sizes."""
            import os

            found = []
            for where, _, files in os.walk(folder):
                for name in sorted(files):
                    path = os.path.join(where, name)
                    found.append((os.path.relpath(path, folder), os.path.getsize(path)))
            return found

        def read(self, folder, name, at, size):
            import os

            with open(os.path.join(folder, name), "rb") as file:
                file.seek(at)
                return file.read(size)

        def remove(self, bases):
            import shutil

            for base in bases:
                shutil.rmtree(base, ignore_errors=True)

    return LossproofTraceRecords
