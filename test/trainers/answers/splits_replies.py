"""Every answer in two writes, cut in the middle of a character."""
import json
import sys
import time

import plain


def answer(request):
    message = json.dumps({"id": request["id"], "reject": "naïve ✂ case"}, ensure_ascii=False)
    raw = (message + "\r\n").encode()
    cut = raw.index("✂".encode()) + 1
    for part in (raw[:cut], raw[cut:]):
        sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
        time.sleep(0.02)


plain.serve(answer)
