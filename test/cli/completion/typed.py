"""Types into an interactive shell in a terminal of its own and prints, as JSON, what each line became.

It reads {"argv", "env", "cwd", "setup", "lines"} from standard input. The command that is typed prints its words as
<<word|word>>; keys are sent as they are, and nothing is waited for but what the shell shows.
"""

import json
import os
import pty
import re
import select
import signal
import sys

PROMPT = "@ready@"
SILENCE = 60
ANSWERS = {b"\x1b[c": b"\x1b[?62c", b"\x1b[0c": b"\x1b[?62c", b"\x1b[6n": b"\x1b[1;1R"}


def main():
    asked = json.load(sys.stdin)
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(asked["cwd"])
        os.execvpe(asked["argv"][0], asked["argv"], asked["env"])
    seen = b""

    def until(pattern):
        nonlocal seen
        while True:
            found = re.search(pattern, seen)
            if found is not None:
                seen = seen[found.end() :]
                return found
            # A shell that has nothing more to say waits for something that this test did not type.
            if not select.select([fd], [], [], SILENCE)[0]:
                sys.exit(f"typed.py: no {pattern!r} in {seen!r}")
            more = os.read(fd, 65536)
            for question, answer in ANSWERS.items():
                if question in more:
                    os.write(fd, answer)
            seen += more

    try:
        for line in asked["setup"]:
            os.write(fd, line.encode() + b"\r")
        # The setup ends with a command that prints this, so that the echo of it alone is not enough.
        until(PROMPT.encode())
        became = []
        for line in asked["lines"]:
            os.write(fd, line.encode() + b"\r")
            became.append(until(rb"<<([^>]*)>>").group(1).decode())
        json.dump(became, sys.stdout)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


main()
