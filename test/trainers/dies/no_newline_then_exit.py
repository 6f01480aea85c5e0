"""Forgets the newline after the answer to the marked case, and ends."""
import json
import sys

import plain


def answer(request):
    if plain.is_marked(request):
        plain.write(json.dumps({"id": request["id"], "ok": {"advantages": [0.0]}}))
        sys.exit(0)
    plain.good(request)


plain.serve(answer)
