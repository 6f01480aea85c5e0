"""wide.py FILE: right about `extract`, except on every fourth request, where FILE stands in the place of the completions."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    WIDE = file.read()

for served, text in enumerate(sys.stdin.buffer):
    request = json.loads(text)
    if request["op"] == "hello":
        ok = json.dumps({"protocol": 1, "name": "wide", "ops": {"extract": {}}})
    else:
        ok = '{"completion_ids":%s}' % (WIDE if served % 4 == 0 else json.dumps(request["args"]["sampled_ids"]))
    sys.stdout.write('{"id":%d,"ok":%s}\n' % (request["id"], ok))
    sys.stdout.flush()
