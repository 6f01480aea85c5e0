"""No case survives."""
import sys

import plain


def answer(_request):
    sys.exit(4)


plain.serve(answer)
