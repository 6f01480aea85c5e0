"""Starts a process that inherits its pipes and ignores SIGTERM, then dies on the marked case."""
import os
import subprocess
import sys

import plain

LOOP = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(3600)"
plain.note_pid(subprocess.Popen([sys.executable, "-c", LOOP]).pid)


def answer(request):
    if plain.is_marked(request):
        os._exit(7)
    plain.good(request)


plain.serve(answer)
