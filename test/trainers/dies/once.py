"""The first process of the run dies on its third case; those after it never do."""
import os
import sys

import plain

served = 0
with open(os.environ["PID_FILE"], encoding="utf-8") as file:
    first = file.read() == ""


def answer(request):
    global served
    served += 1
    if first and served == 3:
        sys.exit(5)
    plain.good(request)


plain.serve(answer)
