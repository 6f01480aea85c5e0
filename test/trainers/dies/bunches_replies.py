"""Reads what is there and answers it in one write, as a fast SDK does; dies of the marked case with good answers unsent."""
import io
import json
import os
import sys

import plain


def answer(request):
    if plain.is_marked(request):
        os._exit(3)
    plain.good(request)


plain.note_pid()
channel, rest = sys.stdout, b""
while chunk := os.read(0, 65536):
    *lines, rest = (rest + chunk).split(b"\n")
    sys.stdout = io.StringIO()
    for line in lines:
        request = json.loads(line)
        plain.say(request, ok=plain.HELLO) if request["op"] == "hello" else answer(request)
    channel.write(sys.stdout.getvalue())
    channel.flush()
