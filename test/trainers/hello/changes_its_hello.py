"""The second process of a run has another name, and the marked case kills the first."""
import os
import sys

import plain

with open(os.environ["PID_FILE"], encoding="utf-8") as file:
    before = len(file.read().split())


def answer(request):
    if plain.is_marked(request):
        sys.exit(8)
    plain.good(request)


plain.serve(answer, hello={**plain.HELLO, "name": f"plain-{before}"})
