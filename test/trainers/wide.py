"""wide.py FILE: answers `extract` with FILE in the place of the completions."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    WIDE = file.read()

for text in sys.stdin.buffer:
    request = json.loads(text)
    if request["op"] == "hello":
        ok = json.dumps({"protocol": 1, "name": "wide", "ops": {"extract": {}}})
    else:
        ok = f'{{"completion_ids":{WIDE}}}'
    sys.stdout.write(f'{{"id":{request["id"]},"ok":{ok}}}\n')
    sys.stdout.flush()
