"""The dialogue with the engine: a line of JSON in, a line out, in order. It says what to try; it alone judges."""

import json
import os
import sys
import time
import traceback

from lossproof import _channel
from lossproof._errors import Reject
from lossproof._values import encoder, record

from ._asks import ASKS
from ._callers import handed
from ._guard import Refused, TooLong, bound, within
from ._ids import fixed_ids
from ._load import load
from ._plans import nameable
from ._printed import listen, printed
from ._read import files_below, read
from ._try import CALL_SECONDS, Stopped, Trier, text_of, told

# Importing torch, transformers and a project of many modules takes tens of seconds on a cold disk.
# bound (cpu): `discover`: importing a file; its functions are not bound, with the reason
LOAD_SECONDS = 120.0


class Desk:
    def __init__(self):
        self._candidates, self._loaded, self._tried, self._libraries, self._files = [], {}, [], set(), []
        self._trier = Trier(time.process_time, self._loaded)
        self._encode = encoder()

    def read(self, paths):
        """Files read, not imported."""
        files, wrong = files_below(paths)
        told = [{"file": path, "functions": 0, "problem": why} for path, why in wrong]
        libraries = set()
        for path in files:
            try:
                found, imported = read(path)
            except SyntaxError as error:
                told.append({"file": path, "functions": 0, "problem": "it does not parse: line %s: %s" % (error.lineno, error.msg)})
                continue
            except (OSError, ValueError, RecursionError, MemoryError) as error:
                told.append({"file": path, "functions": 0, "problem": "it cannot be read: %s" % error})
                continue
            libraries |= imported
            told.append({"file": path, "functions": len(found)})
            self._candidates += found
        candidates = [
            {
                "file": each.file, "name": each.name, "line": each.line, "kind": each.kind,
                "parameters": [p.name for p in each.parameters],
                "ops": {op: nameable(each, op) for op in ASKS},
            }
            for each in self._candidates
        ]  # fmt: skip
        arrays = next((name for name in ("torch", "numpy") if name in libraries), None)
        self._libraries, self._files = libraries, files
        return {"files": told, "candidates": candidates, "arrays": arrays}

    def limit(self, folder, memory, seconds):
        missing = bound(folder, memory, seconds)
        listen(folder)
        return {"missing": missing}

    def load(self, file, versions):
        if file not in self._loaded:
            with within(LOAD_SECONDS):
                self._loaded[file] = load(file, self._libraries, versions)
        one = self._loaded[file]
        return {"line": one.line, "folder": one.folder, "head": one.head, "leftOut": one.left_out}

    def attempt(self, candidate, op, arrays, cases, own):
        one = self._candidates[candidate]
        loaded = self._loaded[one.file]
        if not hasattr(loaded.module, one.name.split(".")[0]):
            return {"ways": [], "tried": 0, "why": ["its definition could not be run"]}
        found, count, why = self._trier.tried(one, loaded, op, arrays, [tuple(c) for c in cases], own)
        begin = len(self._tried)
        self._tried += found
        fixed = fixed_ids(loaded.module, one.name) if found else {}
        return {
            "ways": [{**self._told(begin + at, tried), "fixed": fixed} for at, tried in enumerate(found)],
            "tried": count,
            "why": why,
        }

    def callers(self, candidate, places):
        """Whether those that call a function hand over what is shifted."""
        return handed(self._candidates[candidate], places, self._files)

    def _told(self, number, tried):
        plan = tried.plan
        return {
            "way": number,
            "text": text_of(plan, tried.lines),
            "call": plan.call(),
            "header": plan.header,
            "arguments": [[name, text, source is not None] for name, text, source, _ in plan.arguments],
            "counts": [name for name, _, source, _ in plan.arguments if source == "divisor"],
            "capability": plan.capability,
            "layout": tried.layout,
            "reads": [[name, text.replace("%s", "")] for name, text in tried.reading],
            "unread": tried.unread,
            "shifted": plan.shifted,
            "assumes": plan.assumes,
            "invented": plan.invented,
            "own": plan.own,
            "agrees": plan.agrees,
            "switched": plan.is_switched,
            "score": plan.score,
        }

    def answer(self, way, args):
        tried = self._tried[way]
        try:
            with within(CALL_SECONDS):
                answered, written = tried.call(args)
                body = self._encode(record(tried.plan.op, answered))
        except Reject as why:
            return '{"reject":%s}' % json.dumps(str(why))
        except (TooLong, Refused, SystemExit) as stopped:
            return '{"error":%s}' % json.dumps("%s: %s" % (type(stopped).__name__, stopped))
        except Exception as error:
            return '{"error":%s}' % json.dumps(("%s: %s" % (type(error).__name__, error))[:500])
        return '{"ok":%s,"written":%s}' % (body, json.dumps(list(written)))


def serve():
    source = os.fdopen(_channel.inputs(), "rb")
    desk = Desk()
    for line in source:
        request = json.loads(line)
        do = request.pop("do")
        try:
            said = desk.answer(**request) if do == "answer" else json.dumps({"ok": getattr(desk, do)(**request)})
        except Stopped as stopped:
            said = json.dumps({"stopped": str(stopped)})
        except (Exception, TooLong, SystemExit) as error:
            said = json.dumps({"problem": _problem(error), "traceback": traceback.format_exc()[-4000:]})
        if printed() and do == "attempt":
            said = said[:-1] + ',"printed":true}'
        try:
            _channel.write(said + "\n")
        except BrokenPipeError:
            return
    sys.stdout.flush()


def _problem(error):
    if isinstance(error, SystemExit):
        return "it exits the process (code %s)" % error.code
    if isinstance(error, (TooLong, Refused)):
        return str(error)
    return told(error)
