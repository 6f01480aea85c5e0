"""sys.exit(3) on the marked case."""
import sys

import plain


def answer(request):
    if plain.is_marked(request):
        sys.exit(3)
    plain.good(request)


plain.serve(answer)
