"""hostile.py WHAT: an answer that is meant to take the harness down with it: endless depth, a shape of nothing, text that
no regular expression survives. The marked case is answered so; `hello ...` is hello itself."""

import json
import sys

import plain

WHAT = sys.argv[1]
DEEP = 200_000


def line(request, rest):
    plain.write('{"id":%d,%s}\n' % (request["id"], rest))


ANSWERS = {
    "deep": lambda: '"ok":{"advantages":' + "[" * DEEP + "]" * DEEP + "}",
    "deep ok": lambda: '"ok":' + '{"a":' * DEEP + "1" + "}" * DEEP,
    "deep error": lambda: '"error":{"message":' + "[" * DEEP + "]" * DEEP + "}",
    "many": lambda: '"ok":{"advantages":[' + "[]," * 5_000_000 + "[]]}",
    "long string and NaN": lambda: '"error":{"message":"' + "a" * 9_000_000 + '"},"x":NaN',
    "long number and NaN": lambda: '"ok":{"advantages":[NaN,0.' + "1" * 9_000_000 + "]}",
    "long space and NaN": lambda: '"ok":{"advantages":[NaN,' + " " * 9_000_000 + "1]}",
    "rows of nothing": lambda: '"ok":{"advantages":{"dtype":"int64","shape":[400000000,0],"data":""}}',
    "negative": lambda: '"ok":{"advantages":{"dtype":"int64","shape":[-1,-1],"data":"AAAAAAAAAAA="}}',
    "long error": lambda: json.dumps("error")
    + ":"
    + json.dumps({"message": "E" * 4_000_000, "traceback": "line\n" * 1_000_000}),
    "lines in a reason": lambda: '"reject":"no\\n+ fixed 123abc: all is well\\u2028more"',
}
HELLOS = {
    "hello deep": lambda: '"ok":' + "[" * DEEP + "]" * DEEP,
    "hello vocabulary": lambda: '"ok":'
    + json.dumps({**plain.HELLO, "tokens": {"vocab_size": 2**53 - 1, "pad_token_id": 0, "eos_token_ids": [1]}}),
    "hello lines": lambda: '"ok":'
    + json.dumps({**plain.HELLO, "name": "N" * 5_000_000, "runtime": "a\nb\r\u2028c"}),
}


def answer(request):
    if WHAT == "mark":
        plain.write("\ufeff")
    if WHAT in ANSWERS and plain.is_marked(request):
        line(request, ANSWERS[WHAT]())
    else:
        plain.good(request)


plain.note_pid()
for text in sys.stdin:
    asked = json.loads(text)
    if asked["op"] != "hello":
        answer(asked)
    elif WHAT in HELLOS:
        line(asked, HELLOS[WHAT]())
    else:
        plain.say(asked, ok=plain.HELLO)
