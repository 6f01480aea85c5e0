"""The loop: requests in, answers out, in order. An op that raises is an answer too, and the process lives on."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
import traceback

from . import _channel
from ._arrays import converter, unpack
from ._bind import bind
from ._errors import Reject, Skip, WrongAnswer
from ._registry import collected
from ._values import encoder, record

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Literal, Union

    Answer = Union[Callable[..., Any], tuple[Callable[..., Any], Mapping[str, Any]]]

PROTOCOL = 1
# Answers are gathered while requests are waiting, but never held back longer than this.
FLUSH_SECONDS = 0.002
_ADAPTERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "adapters") + os.sep
# Their versions tell a report what was run.
_LIBRARIES = ("torch", "transformers", "trl", "numpy")


def serve(
    name: str,
    version: str | None = None,
    ops: Mapping[str, Answer] | None = None,
    layout: Mapping[str, str] | None = None,
    semantics: Mapping[str, Any] | None = None,
    tokens: Mapping[str, Any] | None = None,
    tokenizer: str | os.PathLike[str] | None = None,
    dtype: str | None = None,
    max_length: int | None = None,
    tensors: str | None = None,
    arrays: Literal["numpy", "torch"] | None = None,
    lacks: Mapping[str, str] | None = None,
    notes: Sequence[str] | None = None,
) -> None:
    """Answer the harness until its input ends; then return.

    ops: {"mask": function, "kl": (function, {"kl_estimator": ["k3"]})} besides the decorated ones.
    layout, semantics, tokens, tokenizer, dtype, max_length, tensors: as in PROTOCOL.md; absent means undeclared.
    arrays: "numpy" or "torch" to receive arrays instead of lists (never for ragged rows).
    lacks: {"entropy": "why this trainer computes none"}, said where properties of that op are unsupported; no function
        of that op is asked then.
    notes: sentences that every report begins with.
    Exits with code 2 and one sentence where a function asks for what no request ever holds."""
    _channel.refuse_in_pytest()
    rank, count = ranks = _channel.launched() or (0, None)
    try:
        functions = collected(ops, sys._getframe(1).f_globals.get("__name__"))
        outcome = _outcomes(
            functions if count is None else _of_ranks(functions, count),
            name,
            speaks=rank == 0,
            version=version,
            layout=layout,
            semantics=semantics,
            tokens=tokens,
            tokenizer=tokenizer,
            dtype=dtype,
            max_length=max_length,
            tensors=tensors,
            arrays=arrays,
            lacks=lacks,
            notes=notes,
        )
    except ValueError as error:
        sys.stderr.write("lossproof: %s\n" % error)
        raise SystemExit(2)
    if count is None or count < 2:
        _loop(_channel.inputs(), _lines(outcome))
        return
    from . import _ranks  # only here: a trainer of one process pays nothing for it

    if rank > 0:
        _ranks.follow(outcome, *ranks)
        return
    source = _channel.inputs()
    with _ranks.Leader(outcome, count) as leader:
        _loop(source, _lines(leader), 0)


def answering(functions, name, **declared):
    """A function from one request line (bytes) to one answer line (text, with its newline), by {op: (function, capability)}.

    The keyword arguments are those of `serve`. Raises ValueError where a function asks for what no request ever holds."""
    return _lines(_outcomes(functions, name, **declared))


def _of_ranks(functions, count):
    """The same with their number in the place of `ranks=True`: that many processes can be dealt rows, and no others."""
    return {
        op: (function, dict(capability, ranks=count) if capability.get("ranks") else capability)
        for op, (function, capability) in functions.items()
    }


def _lines(outcome):
    def answer(line):
        found = outcome(line)
        return "" if found is None else '{"id":' + found[0] + "," + found[1] + "}\n"

    return answer


def _outcomes(functions, name, arrays=None, speaks=True, **declared):
    """A function from one request line to (its id, "ok": ... or another of the four), both as JSON; None for a blank line.

    speaks: whether anybody hears what was answered, or only whether something was."""
    if not functions:
        raise ValueError("no op is answered: decorate a function with @lossproof.op")
    functions = {op: function for op, function in functions.items() if op not in (declared.get("lacks") or ())}
    tokenizer, tensors = declared.get("tokenizer"), declared.get("tensors")
    calls = _bound(functions, lambda capability: converter(arrays, capability.get("dtype", declared.get("dtype"))))
    if tokenizer is not None:
        declared["tokenizer"] = os.fspath(tokenizer)
    hello = {"protocol": PROTOCOL, "name": name}
    empty = ({}, [])  # of what is lacking and noted there is mostly nothing
    hello.update((key, value) for key, value in declared.items() if value is not None and value not in empty)
    hello["ops"] = {op: capability for op, (_, capability) in functions.items()}
    return _outcome(hello, calls, tensors == "base64", arrays is None, speaks)


def _bound(functions, converter_of):
    """{op: call}; one ValueError with a line for each op that asks for what is never sent."""
    calls, wrong = {}, []
    for op, (function, capability) in functions.items():
        try:
            calls[op] = bind(op, function, converter_of(capability))
        except ValueError as error:
            wrong.append(str(error))
    if wrong:
        raise ValueError("\nlossproof: ".join(wrong))
    return calls


def _loop(source, answer, hold=FLUSH_SECONDS):
    waiting = []  # pieces of a line that has not ended yet
    ready = []
    clock = time.perf_counter
    flushed = clock()
    try:
        while True:
            chunk = os.read(source, _channel.READ_BYTES)
            if not chunk:
                if waiting:
                    ready.append(answer(b"".join(waiting)))
                break
            lines = chunk.split(b"\n")
            if len(lines) == 1:
                waiting.append(chunk)
                continue
            if waiting:
                waiting.append(lines[0])
                lines[0] = b"".join(waiting)
            rest = lines.pop()
            waiting = [rest] if rest else []
            for line in lines:
                ready.append(answer(line))
                if clock() - flushed >= hold:
                    _channel.write("".join(ready))
                    ready = []
                    flushed = clock()
            if ready:
                _channel.write("".join(ready))
                ready = []
                flushed = clock()
        _channel.write("".join(ready))
    except BrokenPipeError:
        pass  # the harness has gone; there is nobody left to tell


def _outcome(hello, calls, use_base64, lists, speaks):
    """What `_outcomes` returns. `lists`: the calls convert nothing themselves."""
    decode = json.JSONDecoder().decode
    encode = encoder(use_base64)
    plain = json.JSONEncoder(separators=(",", ":")).encode

    def outcome(line):
        identity = "null"
        try:
            request = decode(line.decode("utf-8"))
            identity = plain(request["id"])
            op = request["op"]
            args = request["args"]
            call = calls.get(op)
            if call is not None:
                if use_base64 and lists:
                    args = unpack(args)
                answered, written = call(args)
                if not speaks:
                    return identity, '"ok":{}'
                body = '"ok":' + encode(record(op, answered))
                if written:
                    body += ',"written":' + plain(written)
            elif op == "hello":
                body = '"ok":' + plain(dict(hello, runtime=_runtime()))
            else:
                body = '"skip":' + plain("this adapter has no op %r" % op)
        except Reject as why:
            body = '"reject":' + plain(str(why))
        except Skip as why:
            body = '"skip":' + plain(str(why))
        except Exception as error:
            if identity == "null" and not line.strip():
                return None
            body = '"error":' + plain(_described(error))
        return identity, body

    return outcome


def _described(error):
    message = "%s: %s" % (type(error).__name__, error) if str(error) else type(error).__name__
    if isinstance(error, WrongAnswer):
        return {"message": str(error)}  # no line of the user's raised it
    # The first frames are this loop's; the user's own begin two below.
    frames = error.__traceback__
    for _ in range(2):
        if frames is not None and frames.tb_next is not None:
            frames = frames.tb_next
    lines = traceback.format_exception(type(error), error, frames)
    ours = {"adapter": True} if _raised_by_an_adapter(error) else {}
    return {"message": message, "traceback": "".join(lines), **ours}


def _raised_by_an_adapter(error):
    """Whether a line of a ready-made adapter raised it: of the trainer that it drives it says nothing."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    return frames is not None and frames.tb_frame.f_code.co_filename.startswith(_ADAPTERS)


def _runtime():
    loaded = ["python " + platform.python_version()]
    for library in _LIBRARIES:
        found = getattr(sys.modules.get(library), "__version__", None)
        if found is not None:
            loaded.append("%s %s" % (library, found))
    return ", ".join(loaded)
