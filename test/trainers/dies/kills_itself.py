"""SIGKILL in the middle of the marked case, like the kernel out of memory."""
import os
import signal

import plain


def answer(request):
    if plain.is_marked(request):
        os.kill(os.getpid(), signal.SIGKILL)
    plain.good(request)


plain.serve(answer)
