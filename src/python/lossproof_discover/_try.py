"""The ways of calling a function that answer at all: called with a few of the engine's cases, and their answers looked at."""

import collections
import importlib
import json
import linecache
import re

from lossproof._arrays import converter
from lossproof._bind import bind
from lossproof._errors import Reject
from lossproof._values import encoder, record
from lossproof.testing import Settings, instance

import lossproof

from ._asks import ASKS
from ._configs import Configs
from ._guard import Refused, TooLong, within
from ._lines import body, unit
from ._plans import plans
from ._results import fields_of, finite, readings, shape_of, told_shape, unread
from ._settings import GROUP
from ._sources import COMPLETION, PREDICTOR, ROW, UNMASKED

# Of one call on a case of a few rows; what needs more is no pure function.
# bound (cpu): `discover`: one call of a function; the function is not bound, with the reason
CALL_SECONDS = 2.0
# Of one function for one op.
# bound (cpu): `discover`: all ways to call a function for an op; the ways that answered so far count
TRY_SECONDS = 8.0
_encode = encoder()
# What torch and drivers say where there is none.
_ON_GPU = re.compile(r"compiled with CUDA|CUDA (GPUs|driver|device)|NVIDIA driver|Torch not compiled|no CUDA|CUDA error|libcuda|active drivers", re.I)
# Of these a few cases do not show how a setting is turned off, or which one it is.
_OFF_AT_TIMES = {"sampling", "penalties"}
# How many exceptions one call that returned something weighs.
_RETURNED = 10


class Tried:
    """A plan that answers: its lines, a function of a request's arguments, what is read where, (field, text) each, and parts of
    what is returned that are not."""

    def __init__(self, plan, lines, reading, unread, layout, call, answers):
        self.plan, self.lines, self.reading, self.unread = plan, lines, reading, unread
        self.layout, self.call, self.answers = layout, call, answers


class Trier:
    def __init__(self, clock, loaded):
        self._clock, self._loaded, self._configs = clock, loaded, {}

    def _configs_of(self, loaded):
        if loaded.module.__name__ not in self._configs:
            self._configs[loaded.module.__name__] = Configs(loaded.module, loaded.prefix)
        return self._configs[loaded.module.__name__]

    def tried(self, candidate, loaded, op, arrays, cases, own_logprobs=None):
        """(those that answer, best first; how many ways were tried; why those did not that names speak for).

        cases: [(layout or None, [arguments, ...])]."""
        why, found, count = collections.Counter(), [], 0
        until = self._clock() + TRY_SECONDS
        seen = set()
        for plan in plans(candidate, loaded.prefix, op, arrays, self._configs_of(loaded), own_logprobs):
            if self._clock() > until:
                why["stopped after %g s" % TRY_SECONDS] += 1
                break
            plan.arrays = arrays
            _of_self(plan)
            for layout, requests in cases:
                count += 1
                for tried in self._ways(plan, loaded, candidate, layout, requests, why if plan.agrees else collections.Counter()):
                    # What answers alike is one way; the first has the better names.
                    mark = tried.answers + json.dumps([tried.layout, sorted(plan.ways & UNMASKED)])  # padding is 0 in these cases
                    if op in _OFF_AT_TIMES:
                        mark += plan.call()
                    if mark not in seen:
                        seen.add(mark)
                        found.append(tried)
        return found, count, [text for text, _ in why.most_common(3)]

    def _ways(self, plan, loaded, candidate, layout, requests, why):
        try:
            space = _namespace(plan, loaded, self._loaded.values())
            value = self._first(plan, space, requests[0])
        except (TooLong, Refused) as stopped:
            raise Stopped(str(stopped)) from None
        except SystemExit:
            raise Stopped("it exits the process") from None
        except Exception as error:
            why[told(error)] += 1
            return
        rows = GROUP if plan.shape == "group" else _rows(plan, requests[0])
        fields = fields_of(plan.op, plan.shape)
        found = readings(fields, value, candidate.returned, rows)
        if not found:
            # It says more than what was raised on the way here.
            why["what it returns is none of the op's answers: %s" % told_shape(value, plan.op, rows)] += _RETURNED
        for reading in found:
            try:
                left = unread(fields, value, candidate.returned, reading)
                yield from self._way(plan, space, reading, left, layout, requests)
            except (TooLong, Refused) as stopped:
                raise Stopped(str(stopped)) from None
            except SystemExit:
                raise Stopped("it exits the process") from None
            except _NoAnswer as no:
                why[str(no)] += 1
            except Exception as error:
                why[told(error)] += 1

    def _first(self, plan, space, arguments):
        """What one call returns, unread."""
        call = self._bound(plan, ["return {'': %s}" % unit(plan)], space)
        with within(CALL_SECONDS):
            return call(arguments)[0][""]

    def _way(self, plan, space, reading, left, layout, requests):
        lines = body(plan, reading)
        call = self._bound(plan, lines, space)
        answers = []
        for arguments in requests:
            with within(CALL_SECONDS):
                answers.append(_encode(record(plan.op, call(arguments)[0])))
        decoded = [json.loads(each) for each in answers]
        if not any(finite(each) for answer in decoded for each in answer.values()):
            raise _NoAnswer("answers are no numbers")
        places = [layout] if layout is not None else _layouts(plan, requests, decoded)
        if not places:
            raise _NoAnswer("what it returns is of another shape")
        return [Tried(plan, lines, reading, left, where, call, json.dumps(answers)) for where in places]

    def _bound(self, plan, lines, space):
        text = text_of(plan, lines)
        name = "<lossproof discover: %s>" % plan.op
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"), space)
        return bind(plan.op, space[plan.op], converter(plan.arrays, None))


class Stopped(Exception):
    """A function did what ends its candidacy."""


class _NoAnswer(Exception):
    pass


def text_of(plan, lines):
    """`def kl(...):` and its lines."""
    fields = plan.fields(lines)
    return "def %s(%s):\n%s\n" % (plan.op, ", ".join(fields), "\n".join("    " + line for line in lines))


def _namespace(plan, loaded, others):
    space = {each.prefix: each.module for each in others}
    space |= {"lossproof": lossproof, "Settings": Settings, "instance": instance, loaded.prefix: loaded.module}
    if plan.arrays == "torch":
        space["torch"] = importlib.import_module("torch")
        space["drawn_from"] = importlib.import_module("lossproof.testing").drawn_from
    if plan.header:
        with within(CALL_SECONDS):
            exec(plan.header, space)
    return space


def _of_self(plan):
    """A method without its object: what it reads of it is handed over."""
    if plan.header.startswith("SELF="):
        given, plan.header = plan.header[5:], ""
        plan.arguments = [("self", given, None, False), *plan.arguments]
        if given != "None" and not plan.is_known:
            plan.assumes.append("self=" + given)


def _rows(plan, arguments):
    for name in ("rewards", "lengths", "logprobs", "logits", "prompt_ids", "input_ids", "scores", "values", "chosen_logprobs", "advantages"):
        if name in arguments:
            return len(arguments[name])
    return 0


def _layouts(plan, requests, answers):
    """Where the answered tracks may live, by their width; [None]: the op has none."""
    name = {"logprobs": "logprobs", "entropy": "entropy", "full_kl": "kl", "mask": "completion_mask"}.get(plan.op)
    if name is None:
        return [None]
    kinds = []
    for arguments, answer in zip(requests, answers):
        whole = len((arguments.get("logits") or arguments.get("sequences"))[0])
        at = shape_of(answer.get(name))
        if at is None or len(at) != 2 or at[1] is None:
            return []
        width = len(answer["input_ids"][0]) if "input_ids" in answer else whole
        kinds.append((at[1] == width, at[1] == width - 1, at[1] == whole - arguments.get("prompt_width", 0)))
    same, less, tail = (all(each) for each in zip(*kinds))
    if less:
        return [PREDICTOR]
    if same:
        # Whole rows of logits: each speaks of the next token. A mask with as many columns as tokens speaks of them: one that is
        # early by one is not excused by another layout.
        return {"mask": [ROW], "logprobs": [ROW, PREDICTOR]}.get(plan.op, [PREDICTOR])
    return [COMPLETION] if tail else []


def told(error):
    text = ("%s: %s" % (type(error).__name__, error)).split("\n")[0][:300]
    if isinstance(error, MemoryError):
        return "it wants more memory than it may have (--memory)"
    return "it needs a GPU, and none is shown to it: " + text if _ON_GPU.search(text) else text


__all__ = ["ASKS", "Reject", "Stopped", "Tried", "Trier", "text_of", "told"]
