"""The loop that the misbehaving trainers share: plain JSON lines, standard library, nothing caught.

Each of them answers `advantages` with the rewards themselves, and does one thing wrong. A reward of 13 marks the
case that sets it off. Their pids go to the file named by PID_FILE, so that a test can see who is left. They lie in
folders by what goes wrong: starting, dying, hanging, what is printed, what is answered. This file is on their PYTHONPATH.
"""

import json
import os
import sys

HELLO = {"protocol": 1, "name": "plain", "ops": {"advantages": {}, "logprobs": {}}}


def note_pid(pid=None):
    with open(os.environ["PID_FILE"], "a", encoding="utf-8") as file:
        file.write(f"{pid or os.getpid()}\n")


def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def say(request, **answer):
    write(json.dumps({"id": request["id"], **answer}) + "\n")


def good(request):
    say(request, ok={"advantages": request["args"]["rewards"]})


def is_marked(request):
    return request["args"]["rewards"][:1] == [13.0]


def serve(answer, hello=HELLO):
    note_pid()
    for line in sys.stdin:
        request = json.loads(line)
        if request["op"] == "hello":
            say(request, ok=hello)
        else:
            answer(request)
