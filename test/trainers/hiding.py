"""hiding.py WAY MUTANT: serves a mutant that hides its bug, beside a few right ops (NEAR).
test/hiding/ways.ts lists the ways, and which of them cannot be detected."""

import copy
import inspect
import json
import os
import sys
import time
from pathlib import Path

import lossproof

sys.path.append(str(Path(__file__).parents[1]))

from mutants.loading import load  # noqa: E402  (found from here on)
from mutants.registry import MUTANTS  # noqa: E402

WAY, ID = sys.argv[1:]
load(ID)
MUTANT = MUTANTS[ID]
((OP, wrong),) = MUTANT.ops.items()
LISTED = MUTANT.base.OPS[OP]
right, OFFERED = LISTED if isinstance(LISTED, tuple) else (LISTED, {})
# Right and quick to check, so that passing properties outnumber the ones that the mutant avoids.
NEAR = ("gae", "returns", "clip_advantages", "whiten")
hello = dict(MUTANT.base.DECLARED)
calls = 0


def answers(function, args):
    """The answer of a function that may take only some of the arguments, and may write into them."""
    takes = inspect.signature(function).parameters
    return function(**{name: copy.deepcopy(value) for name, value in args.items() if name in takes})


def plain(answer):
    return json.dumps(answer, sort_keys=True, default=repr)


def shows(args):
    """Whether the wrong and the right answer to this request differ."""
    return plain(answers(wrong, args)) != plain(answers(right, args))


def numbers(change, value):
    if isinstance(value, dict):
        return {key: numbers(change, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [numbers(change, each) for each in value]
    return change(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def rightly(args):
    return answers(right, args)


def hides(do, others=rightly):
    """`do` for every request whose answer would show the bug, `others` for the rest."""

    def op(**args):
        return do(args) if shows(args) else others(args)

    return op


def refuses(args):
    raise lossproof.Reject("this batch is not supported")


def skips(args):
    raise lossproof.Skip("this batch is not supported")


def raises(args):
    raise ValueError("this batch is not supported")


def every(times):
    """Answers one of so many requests, and refuses the others."""

    def op(args):
        global calls
        calls += 1
        return rightly(args) if calls % times == 0 else refuses(args)

    return op


def only_when(is_wrong):
    def op(**args):
        global calls
        calls += 1
        return answers(wrong if is_wrong(args) else right, args)

    return op


def widest(args):
    rows = [value for value in args.values() if isinstance(value, list) and value and isinstance(value[0], list)]
    return max([len(row) for value in rows for row in value] or [0])


def deepest(args):
    return max([len(value) for value in args.values() if isinstance(value, list)] or [0])


def refuses_rows(**args):
    return refuses(args) if deepest(args) > 1 else answers(wrong, args)


def changed(change):
    """The right answer with its numbers changed."""
    return lambda **args: numbers(change, rightly(args))


def first():
    """Repeats its first answer."""
    kept = []

    def op(**args):
        if not kept:
            kept.append(rightly(args))
        return kept[0]

    return op


def declares(**more):
    hello.update(more)
    return wrong


def prints(**args):
    os.write(1, b"580 properties: 580 hold\n")
    return answers(wrong, args)


def deletes(**args):
    for path in Path(".lossproof").glob("**/*"):
        if path.is_file():
            path.unlink()
    return answers(wrong, args)


WAYS = {
    "hides nothing": lambda: wrong,
    # Requests that would show the bug get no answer.
    "refuses what shows it": lambda: hides(refuses),
    "skips what shows it": lambda: hides(skips),
    "raises where it shows": lambda: hides(raises),
    "exits where it shows": lambda: hides(lambda args: os._exit(0)),
    "sleeps where it shows": lambda: hides(lambda args: time.sleep(3600)),
    "refuses what shows it, and eleven of twelve others": lambda: hides(refuses, every(12)),
    "refuses everything": lambda: lambda **args: refuses(args),
    "refuses what has two rows": lambda: refuses_rows,
    # Answers without information.
    "answers 0": lambda: changed(lambda value: 0),
    "answers NaN": lambda: changed(lambda value: float("nan")),
    "answers what it answered first": first,
    "answers nothing": lambda: lambda **args: {},
    # Declarations.
    "says that it computes in half precision": lambda: declares(dtype="float16"),
    "says that it takes four tokens": lambda: declares(max_length=4),
    "says that it writes into its arguments": lambda: declares(
        semantics={**hello["semantics"], "in_place": [OP]}
    ),
    "has the name of an adapter with known failures": lambda: declares(name="trl-grpo"),
    "declares nothing": lambda: declares(semantics={}),
    # Interference with the run.
    "prints that all holds": lambda: prints,
    "deletes what is kept": lambda: deletes,
    # Wrong only now and then.
    "is wrong from the 200th request on": lambda: only_when(lambda args: calls >= 200),
    "is wrong once in ten requests": lambda: only_when(lambda args: calls % 10 == 0),
    "is wrong once in ten thousand requests": lambda: only_when(lambda args: calls % 10_000 == 0),
    "is wrong above 12 columns": lambda: only_when(lambda args: widest(args) > 12),
    "is wrong above 4,096 columns": lambda: only_when(lambda args: widest(args) > 4096),
    "is wrong above 6 rows": lambda: only_when(lambda args: deepest(args) > 6),
    "is wrong above 512 rows": lambda: only_when(lambda args: deepest(args) > 512),
    "is right where lossproof asks": lambda: only_when(lambda args: "LOSSPROOF_RUN" not in os.environ),
}


hello.setdefault("name", "hiding")
op = WAYS[WAY]()
near = {name: MUTANT.base.OPS[name] for name in NEAR if name != OP}
lossproof.serve(ops={OP: (op, OFFERED), **near}, **hello)
