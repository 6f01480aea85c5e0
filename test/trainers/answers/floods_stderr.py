"""300 kB of warnings before every answer: more than a pipe holds."""
import sys

import plain


def answer(request):
    for i in range(3000):
        sys.stderr.write(f"{i:05d} UserWarning: this goes on and on, as warnings in a training loop tend to do, on and on\n")
    plain.good(request)


plain.serve(answer)
