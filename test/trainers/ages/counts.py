"""Answers how many requests this process was asked so far, and its pid: who reads the answers knows who answered what.
A marked case ends it."""
import os
import sys

import plain

served = 0


def answer(request):
    global served
    if plain.is_marked(request):
        sys.exit(3)
    served += 1
    plain.say(request, ok={"advantages": [served, os.getpid()]})


plain.serve(answer)
