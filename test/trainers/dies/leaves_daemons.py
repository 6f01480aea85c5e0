"""Leaves a process in a session of its own, and one that was forked twice, where killing its group does not reach them."""
import os
import subprocess
import sys
import time

import plain

plain.note_pid(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True).pid)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        plain.note_pid()
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
        time.sleep(3600)
    os._exit(0)
os.wait()


def answer(request):
    if plain.is_marked(request):
        os._exit(7)
    plain.good(request)


plain.serve(answer)
