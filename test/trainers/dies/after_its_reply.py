"""Answers the marked case well, and is gone."""
import os

import plain


def answer(request):
    plain.good(request)
    if plain.is_marked(request):
        os._exit(6)


plain.serve(answer)
