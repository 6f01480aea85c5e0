"""misbehaving.py HOW: right about `extract` and `collate`, except as HOW says: at its start, at hello, on every request, or on
the marked one, an `extract` of three rows. test/trainer/misbehaving.ts has the verdict on each. It is started hundreds of
times: what few need is imported by them."""

import json
import os
import sys
import time

HOW = sys.argv[1]
HELLO = {"protocol": 1, "name": "misbehaving", "ops": {"extract": {}, "collate": {}}}
DEEP = 500_000
SCREEN = "\x1b]0;pwned\x07\x1b[2J\x1b[1;31m<script>alert(1)</script>\u202e\r\n\x08"
STREAM = sys.stdout.buffer
served = 0
held = []


def write(data):
    STREAM.write(data if isinstance(data, bytes) else data.encode())
    STREAM.flush()


def say(request, **answer):
    write(json.dumps({"id": request["id"], **answer}) + "\n")


def pad(rows, fill):
    width = max(map(len, rows))
    return [row + [fill] * (width - len(row)) for row in rows]


def right(request):
    args = request["args"]
    if request["op"] == "extract":
        return {"completion_ids": args["sampled_ids"]}
    return {
        "input_ids": pad(args["input_ids"], args["pad_token_id"]),
        "labels": pad(args["labels"], -100),
        "attention_mask": pad([[1] * len(row) for row in args["input_ids"]], 0),
    }


def line(request):
    """The right answer, without its newline."""
    return json.dumps({"id": request["id"], "ok": right(request)})


def is_again():
    """Whether a process of this trainer lived before: each run has a folder of its own."""
    lived = os.path.exists("lived")
    open("lived", "w").close()
    return lived


def hang():
    time.sleep(3600)


def signalled(name):
    def end(*_):
        import signal

        os.kill(os.getpid(), getattr(signal, name))

    return end


def ignoring(*names):
    import signal

    for name in names:
        signal.signal(getattr(signal, name), signal.SIG_IGN)


def sleeping(**how):
    import subprocess

    return subprocess.Popen(["sleep", "3600"], **how)


def closed(*descriptors):
    def close(*_):
        for descriptor in descriptors:
            os.close(descriptor)
        hang()

    return close


def daemon(*_, deaf=False, own_session=True):
    """A process that forks, leaves the group, forks again, and stays."""
    if os.fork() == 0:
        if deaf:
            ignoring("SIGTERM")
        if own_session:
            os.setsid()
            if os.fork() != 0:
                os._exit(0)
            os.chdir("/")
        if not deaf:
            null = os.open("/dev/null", os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(null, descriptor)
        hang()


LEFT = {
    "child": sleeping,
    "children": lambda: [sleeping() for _ in range(50)],
    "session": lambda: sleeping(start_new_session=True),
    "daemon": daemon,
    "deaf child": lambda: daemon(deaf=True, own_session=False),
}


def leaving(what, then):
    def leave(*_):
        LEFT[what]()
        then()

    return leave


def deaf(*_):
    ignoring("SIGTERM", "SIGINT", "SIGHUP")
    while True:
        pass


def greedy(*_):
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (2**28, 2**28))
    kept = []
    while True:
        kept.append(bytearray(2**24))


def endless(text):
    def flood(*_):
        while True:
            write(text * 2**16)

    return flood


def complaining(bytes_of_all):
    return lambda *_: [os.write(2, b"warning: deprecated\n" * 5_000) for _ in range(bytes_of_all // 100_000)] and None


def from_elsewhere(*_):
    if os.fork() == 0:
        while True:
            write("step 3: loss 0.25\n")
            time.sleep(0.05)
    time.sleep(0.3)


def failed(*_):
    raise RuntimeError("cannot load the model " + SCREEN)


START = {
    "exits": lambda: sys.exit(0),
    "dies of an exception": failed,
    "dies of a signal": signalled("SIGSEGV"),
    "prints first": lambda: write("Loading checkpoint shards: 100%|####| 3/3\n"),
    "prints first, no newline": lambda: write("loading..."),
    "answers before it is asked": lambda: write(json.dumps({"id": 1, "ok": HELLO}) + "\n"),
    "closes its input": lambda: os.close(0),
    **{f"leaves a {what}": make for what, make in LEFT.items()},
}

HELLOS = {
    "none": lambda _: hang(),
    "an exit": lambda _: sys.exit(3),
    "null": lambda _: "null\n",
    "a list": lambda _: "[1]\n",
    "each key twice": lambda asked: '{"id":%d,"id":%d,"ok":{},"ok":%s}\n' % (asked["id"], asked["id"], json.dumps(HELLO)),
    "deep lists": lambda asked: '{"id":%d,"ok":%s}\n' % (asked["id"], "[" * DEEP + "]" * DEEP),
    "deep objects": lambda asked: '{"id":%d,"ok":%s1%s}\n' % (asked["id"], '{"a":' * DEEP, "}" * DEEP),
    "slow": lambda _: time.sleep(1),
    "reject": lambda asked: json.dumps({"id": asked["id"], "reject": "no"}) + "\n",
    "error": lambda asked: json.dumps({"id": asked["id"], "error": {"message": "m" + SCREEN}}) + "\n",
}
# The same hello, with these in it.
SAID = {
    "another protocol": {"protocol": 2},
    "no ops": {"ops": None},
    "empty ops": {"ops": {}},
    "ops of JavaScript": {"ops": {"constructor": {}, "toString": {}}},
    "an op called __proto__": {"ops": {"extract": {}, "__proto__": {"polluted": True}}},
    "a name of five million": {"name": "A" * 5_000_000},
    "a name for the screen": {"name": SCREEN, "version": SCREEN, "runtime": "a\nb" + SCREEN},
    "an empty name": {"name": ""},
    "ids beyond all": {"tokens": {"vocab_size": 2**53 - 1, "pad_token_id": 2**53 - 2, "eos_token_ids": [2**53 - 3]}},
    "a vocabulary of 0": {"tokens": {"vocab_size": 0, "pad_token_id": 0, "eos_token_ids": []}},
    "a vocabulary of 1": {"tokens": {"vocab_size": 1, "pad_token_id": 0, "eos_token_ids": [0]}},
    "a vocabulary of 2": {"tokens": {"vocab_size": 2, "pad_token_id": 0, "eos_token_ids": [1, 0]}},
    "no tokenizer": {"tokenizer": "/nonexistent/\0x"},
    "a device for a tokenizer": {"tokenizer": "/proc/self/mem"},
}

# Of the marked request, what stands in the place of its completion_ids.
IDS = {
    "NaN": "[[NaN],[Infinity],[-Infinity]]",
    "beyond float64": "[[1e400],[-0],[-0.0]]",
    "beyond 2**53": "[[9007199254740993],[123456789012345678901234567890],[1.5]]",
    "texts": '[["1"],[null],[true]]',
    "another depth": "[[[1]]]",
    "ragged": "[[1],2,[3]]",
    "a row less": "[[1],[2]]",
    "a tensor of lies": '{"dtype":"int64","shape":[4000000000,4000000000],"data":""}',
    "a tensor below 0": '{"dtype":"int64","shape":[-1,-8],"data":"AAAAAAAAAAA="}',
    "no rows, endless columns": '{"dtype":"int64","shape":[0,4000000000],"data":""}',
    "endless rows, no columns": '{"dtype":"int64","shape":[400000000,0],"data":""}',
    "5000 axes": '{"dtype":"int64","shape":[%s1],"data":"AAAAAAAAAAA="}' % ("1," * 4_999),
    "a dtype of JavaScript": '{"dtype":"constructor","shape":[1],"data":"AAAAAAAAAAA="}',
    "no base64": '{"dtype":"int64","shape":[1,1],"data":"!!!!"}',
    "deep": "[" * DEEP + "]" * DEEP,
    "two million": "[[%s1]]" % ("1," * 2_000_000),
    "200,000": "[[%s1]]" % ("1," * 200_000),
    "NaN and 200,000": "[[NaN,%s1]]" % ("1," * 200_000),
}
# Of the marked request, all behind its id.
REST = {
    "no kind": "",
    "two kinds": ',"ok":{"completion_ids":[[1]]},"reject":"x"',
    "another key": ',"ok":{"completion_ids":[[1],[1],[1]],"extra":1}',
    "deep ok": ',"ok":' + "[" * DEEP + "]" * DEEP,
    "deep beside": ',"ok":{},"zz":' + "[" * DEEP + "]" * DEEP,
    "deep error": ',"error":{"message":' + "[" * DEEP + "]" * DEEP + "}",
    "deep options": ',"ok":{"completion_ids":[[1],[1],[1]],"options":' + "[" * DEEP + "]" * DEEP + "}",
    "__proto__": ',"ok":{"__proto__":{"completion_ids":[[1]]}}',
    "half a character": ',"error":{"message":"x \\ud800 y \\udfff","traceback":"\\ud83d"}',
    "half a character for a reason": ',"reject":"\\ud800"',
    "an exception": ',"error":' + json.dumps({"message": "IndexError: " + SCREEN, "traceback": "Traceback" + SCREEN}),
    "an exception of 9 MB": ',"error":' + json.dumps({"message": "E" * 4_000_000, "traceback": "line\n" * 1_000_000}),
    "a long traceback": ',"error":' + json.dumps({"message": "boom\n\nthird", "traceback": "line\n" * 100_000}),
    "a long text and NaN": ',"error":{"message":"%s"},"x":NaN' % ("a" * 9_000_000),
}

# On the marked request: what is written in the place of an answer, or None, and then it is answered rightly.
MARKED = {
    **{f"ids: {name}": lambda asked, ids=ids: '{"id":%d,"ok":{"completion_ids":%s}}\n' % (asked["id"], ids) for name, ids in IDS.items()},
    **{f"says {name}": lambda asked, rest=rest: '{"id":%d%s}\n' % (asked["id"], rest) for name, rest in REST.items()},
    "the key twice": lambda asked: '{"id":%d,"ok":{"completion_ids":[[1]],"completion_ids":%s}}\n' % (asked["id"], json.dumps(right(asked)["completion_ids"])),
    "twice": lambda asked: 2 * (line(asked) + "\n"),
    "another id": lambda asked: line({**asked, "id": asked["id"] + 7}) + "\n",
    "a line of 65 MiB": lambda _: b"x" * (65 * 2**20) + b"\n",
    "half, and an exit": lambda asked: write(line(asked)[:30]) or sys.exit(0),
    "half, and a hang": lambda asked: write(line(asked)[:30]) or hang(),
    "no newline, and an exit": lambda asked: write(line(asked)) or sys.exit(0),
    "chance": lambda _: os.urandom(100_000),
    "NUL": lambda _: b"\0" * 1_000 + b"\n",
    "no UTF-8": lambda asked: b'{"id":%d,"error":{"message":"\xff\xfe\x80"}}\n' % asked["id"],
    "a print": lambda _: "step 3: loss 0.25\n",
    "a print for the screen": lambda _: SCREEN + "\n",
    "a print, no newline": lambda _: write("progress..."),
    "a print from elsewhere": from_elsewhere,
    "a print behind": lambda asked: line(asked) + "\nsaved checkpoint\n",
    "words for the screen, and an end": lambda _: os.write(2, SCREEN.encode()) and os._exit(9),
    "20 MB of stderr": complaining(20_000_000),
    "closes its output": closed(1),
    "closes everything": closed(0, 1, 2),
    "ignores SIGTERM": deaf,
    "eats memory": greedy,
    "SIGKILL": signalled("SIGKILL"),
    "SIGSEGV": signalled("SIGSEGV"),
    "SIGABRT": signalled("SIGABRT"),
    "SIGSTOP": signalled("SIGSTOP"),
    "kills its group": lambda _: os.killpg(0, 9),
    "leaves its group, and hangs": lambda _: (os.getpid() != os.getpgrp() and os.setsid()) or hang(),
    "kills the harness": lambda _: os.kill(os.getppid(), 15) or hang(),
    "late": lambda _: time.sleep(10),
    "an endless line": endless(b"y"),
    "endless lines": endless(b"\n"),
    "answers and exits": lambda asked: write(line(asked) + "\n") or os._exit(6),
    "exits, and says another hello": lambda _: sys.exit(4),
    "exits, and orders hello anew": lambda _: sys.exit(4),
    "exits, and stops at its next start": lambda _: sys.exit(4),
    **{f"leaves a {what}, hangs": leaving(what, hang) for what in LEFT},
    **{f"leaves a {what}, dies": leaving(what, lambda: os._exit(5)) for what in LEFT},
}


def in_pairs(asked):
    held.append(asked)
    if len(held) == 2:
        for each in reversed(held):
            say(each, ok=right(each))
        held.clear()
    return ""


def byte_by_byte(asked):
    for byte in (line(asked) + "\n").encode():
        write(bytes([byte]))
    return ""


def reversed_after(requests):
    def answer(asked):
        if served > requests and asked["op"] == "extract":
            return json.dumps({"id": asked["id"], "ok": {"completion_ids": [row[::-1] for row in right(asked)["completion_ids"]]}}) + "\n"

    return answer


# Each process another one.
LAST = 1 + os.getpid() % 4

# On every request.
ALWAYS = {
    "exits at its first request": lambda _: os._exit(1),
    "hangs at its first request": lambda _: open("asked", "w").close() or hang(),
    "closes its output first": closed(1),
    "closes its input, hangs": closed(0),
    "out of order, in pairs": in_pairs,
    "a text for an id": lambda asked: line({**asked, "id": str(asked["id"])}) + "\n",
    "a float for an id": lambda asked: line({**asked, "id": float(asked["id"])}) + "\n",
    "1e308 for an id": lambda _: '{"id":1e308,"ok":{}}\n',
    "null for an id": lambda _: '{"id":null,"ok":{}}\n',
    "a byte order mark": lambda asked: "\ufeff" + line(asked) + "\n",
    "CRLF": lambda asked: line(asked) + "\r\n",
    "CR": lambda asked: line(asked) + "\r",
    "UTF-16": lambda asked: line(asked).encode("utf-16") + b"\n\0",
    "a print before": lambda asked: f"step {served}: loss 0.25\n{line(asked)}\n",
    "empty lines before": lambda asked: f"\n\n\r\n{line(asked)}\n",
    "byte by byte": byte_by_byte,
    "in two pieces": lambda asked: write(line(asked)[:9]) or time.sleep(0.02) or line(asked)[9:] + "\n",
    "slower and slower": lambda _: time.sleep(0.75 * served),
    "an end at each tenth": lambda _: os._exit(7) if served % 10 == 0 else None,
    "an end at its second": lambda _: os._exit(7) if served == 2 else None,
    "an end at random": lambda _: os._exit(7) if served == LAST else None,
    "wrong once it is old": reversed_after(8),
    "wrong each second time": lambda asked: reversed_after(0)(asked) if served % 2 else None,
    "refuses all": lambda asked: json.dumps({"id": asked["id"], "reject": "no " + SCREEN}) + "\n",
    "skips all": lambda asked: json.dumps({"id": asked["id"], "skip": "no " + SCREEN}) + "\n",
}
END = {"hangs at its end": hang, "prints at its end": lambda: write("bye\n")}

known = {"exits behind hello", *START, *MARKED, *ALWAYS, *END, *(f"hello: {name}" for name in (*HELLOS, *SAID))}
if __name__ == "__main__":
    again = is_again()
    if HOW not in known:
        sys.exit(f"there is no trainer that misbehaves so: {HOW}")
    START.get(HOW, lambda: None)()
    if HOW == "exits, and stops at its next start" and again:
        signalled("SIGSTOP")()
    for text in sys.stdin.buffer:
        request = json.loads(text)
        if request["op"] == "hello":
            name = HOW.removeprefix("hello: ") if HOW.startswith("hello: ") else ""
            answer = HELLOS[name](request) if name in HELLOS else None
            hello = {**HELLO, **SAID.get(name, {})}
            if HOW == "exits, and says another hello" and again:
                hello["version"] = "2"
            if HOW == "exits, and orders hello anew" and again:
                hello = dict(reversed(hello.items()))
            write(answer) if answer else say(request, ok=hello)
            if HOW == "exits behind hello":
                sys.exit(0)
            continue
        served += 1
        marked = request["op"] == "extract" and len(request["args"]["prompt_ids"]) == 3
        answer = MARKED[HOW](request) if marked and HOW in MARKED else None
        if HOW in ALWAYS:
            answer = ALWAYS[HOW](request)
        if answer is None:
            say(request, ok=right(request))
        else:
            write(answer)
    END.get(HOW, lambda: None)()
