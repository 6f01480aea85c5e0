"""Closes its standard output on the marked case and lives on, as what turns itself into a daemon does."""
import os
import time

import plain


def answer(request):
    if plain.is_marked(request):
        os.close(1)
        time.sleep(3600)
    plain.good(request)


plain.serve(answer)
