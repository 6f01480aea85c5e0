"""Writes Latin-1."""
import json
import sys

import plain


def answer(request):
    if plain.is_marked(request):
        line = json.dumps({"id": request["id"], "reject": "réjeté"}, ensure_ascii=False) + "\n"
        sys.stdout.buffer.write(line.encode("latin-1"))
        sys.stdout.buffer.flush()
    else:
        plain.good(request)


plain.serve(answer)
