"""Loops on the marked case and does not listen to SIGTERM."""
import signal

import plain

signal.signal(signal.SIGTERM, signal.SIG_IGN)


def answer(request):
    while plain.is_marked(request):
        pass
    plain.good(request)


plain.serve(answer)
