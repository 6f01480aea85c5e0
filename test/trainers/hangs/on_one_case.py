"""Sleeps on the marked case."""
import time

import plain


def answer(request):
    if plain.is_marked(request):
        time.sleep(3600)
    plain.good(request)


plain.serve(answer)
