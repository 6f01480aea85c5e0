"""Wrong parsers of tool calls, and wrong environments."""

import json
import re
import unicodedata

from lossproof.examples import left_padded
from lossproof.examples.rollouts import tools

from ..registry import MUTANTS


@MUTANTS.add("parser-raises-at-bad-json", "Bad JSON ends the rollout", left_padded)
def parse_tool_call(text):
    """json.loads without try: the first call that is cut or misspelt ends the step of all rows. Fix: a status."""
    match = re.search(r"<tool_call>(.*?)(</tool_call>|$)", text, re.DOTALL)
    if match:
        json.loads(match.group(1))
    return tools.parse_tool_call(text)


@MUTANTS.add(
    "parser-overflows-its-stack", "A thousand open brackets end the rollout", left_padded, "parse_tool_call"
)
def parser_deep(text):
    """`except json.JSONDecodeError`, and a collapsed policy writes "[[[[": what is raised then is a RecursionError.
    Fix: catch that as well."""
    if tools.OPEN in text and tools.CLOSE in text:
        try:
            json.loads(text.split(tools.OPEN, 1)[1].split(tools.CLOSE, 1)[0])
        except json.JSONDecodeError:
            pass
    return tools.parse_tool_call(text)


@MUTANTS.add("parser-raises-at-numbers", "A call with a number in it ends the rollout", left_padded, "parse_tool_call")
def parser_strips(text):
    """`value.strip()` for each argument, written when every tool took text: a well-formed call of another one raises.
    Fix: strip text only."""
    right = tools.parse_tool_call(text)
    for value in json.loads(right.get("arguments", "{}")).values():
        value.strip()
    return right


@MUTANTS.add("parser-one-status-for-all", "Every call that fails is no call", left_padded, "parse_tool_call")
def parser_none(text):
    """`except Exception: return None`, which the caller reads as: no call was made. A policy that misspells a call is
    graded as if it had answered. Fix: a status for each."""
    right = tools.parse_tool_call(text)
    return right if right["status"] == "call" else {"status": "no_call"}


@MUTANTS.add("parser-stops-at-a-brace", "A brace in a string ends the call", left_padded, "parse_tool_call")
def parser_brace(text):
    """A pattern for braces within braces instead of a JSON decoder: it knows nothing of strings, and an argument with a
    brace in it is cut. Fix: raw_decode from the first brace."""
    right = tools.parse_tool_call(text)
    if right["status"] != "call":
        return right
    match = re.search(r"<tool_call>\s*(\{[^{}]*\{[^{}]*\}[^{}]*\})", text)
    try:
        json.loads(match.group(1))
    except (AttributeError, ValueError):
        return {"status": "bad_json"}
    return right


@MUTANTS.add("parser-one-line-only", "A call over several lines is not found", left_padded, "parse_tool_call")
def parser_line(text):
    """A pattern without re.DOTALL: a call that is printed over several lines does not match. Fix: DOTALL."""
    if tools.OPEN in text and not re.search(r"<tool_call>.*</tool_call>", text):
        return {"status": "truncated"}
    return tools.parse_tool_call(text)


@MUTANTS.add("parser-runs-unknown-arguments", "Arguments are not checked", left_padded, "parse_tool_call")
def parser_unchecked(text):
    """The tool will complain by itself, it was thought; it has defaults. Fix: check against the schema."""
    right = tools.parse_tool_call(text)
    if right["status"] != "bad_arguments":
        return right
    call = json.JSONDecoder().raw_decode(text.split(tools.OPEN, 1)[1].lstrip())[0]
    return {"status": "call", "name": call["name"], "arguments": json.dumps(call.get("arguments"))}


def called(text):
    """The object within the tags, where there is one."""
    try:
        call = json.JSONDecoder().raw_decode(text.split(tools.OPEN, 1)[1].lstrip())[0]
    except (IndexError, ValueError, RecursionError):
        return {}
    return call if isinstance(call, dict) else {}


def taken(text, kinds, right):
    """The call all the same, where every argument is one of these kinds."""
    name, given = called(text).get("name"), called(text).get("arguments")
    if right["status"] != "bad_arguments" or not isinstance(given, dict):
        return right
    owed = next(tool["parameters"] for tool in tools.TOOLS if tool["name"] == name)
    if given.keys() != owed.keys() or not all(isinstance(given[key], kinds(owed[key])) for key in owed):
        return right
    return {"status": "call", "name": name, "arguments": json.dumps(given)}


@MUTANTS.add("parser-booleans-are-numbers", "true is taken for a number", left_padded, "parse_tool_call")
def parser_booleans(text):
    """isinstance(True, (int, float)): in Python a truth value is a whole number. Fix: ask for bool first."""
    return taken(text, tools.TYPES.get, tools.parse_tool_call(text))


@MUTANTS.add("parser-takes-null", "null is taken for any argument", left_padded, "parse_tool_call")
def parser_null(text):
    """`value is None or isinstance(value, kind)`, as if all were optional. Fix: ask the schema what is owed."""
    return taken(text, lambda kind: (type(None), *tools.TYPES[kind]), tools.parse_tool_call(text))


@MUTANTS.add("parser-scalars-are-all-alike", "A number is taken for a text", left_padded, "parse_tool_call")
def parser_scalars(text):
    """Only lists and objects were thought of as wrong: the tool is run with a type that it does not take, and raises.
    Fix: each argument is checked against its own type, or converted to it."""
    return taken(text, lambda _: (str, int, float), tools.parse_tool_call(text))


@MUTANTS.add(
    "parser-looks-names-up-in-a-text", "A part of a tool's name is a tool's name", left_padded, "parse_tool_call"
)
def parser_names(text):
    """`name in "search,add"`, where a list was meant: "sea" is in it, and so is the empty name. Fix: a list of names."""
    right = tools.parse_tool_call(text)
    name = called(text).get("name")
    if isinstance(name, str) and name in ",".join(tool["name"] for tool in tools.TOOLS):
        if right["status"] == "unknown_tool":
            return {"status": "call", "name": name, "arguments": json.dumps(called(text).get("arguments"))}
    return right


@MUTANTS.add(
    "parser-needs-arguments", "A call without arguments ends the rollout", left_padded, "parse_tool_call"
)
def parser_needs(text):
    """call["arguments"], where the policy wrote none, or called them otherwise: a KeyError. Fix: get, and a status."""
    right = tools.parse_tool_call(text)
    if right["status"] == "bad_arguments":
        called(text)["arguments"]
    return right


@MUTANTS.add(
    "parser-loads-arguments-twice", "Arguments that are text end the rollout", left_padded, "parse_tool_call"
)
def parser_twice(text):
    """Engines write arguments as text with JSON in it, so it is loaded once more, with nobody to look what comes out.
    Fix: a status where it is no object."""
    right = tools.parse_tool_call(text)
    given = called(text).get("arguments")
    if right["status"] == "bad_arguments" and isinstance(given, str) and given.startswith("{"):
        return {"status": "call", "name": called(text)["name"], "arguments": json.dumps(given)}
    return right


@MUTANTS.add("parser-normalises-text", "What a tool is called with is normalised", left_padded, "parse_tool_call")
def parser_normalises(text):
    """unicodedata.normalize for the sake of the tags: letters of two code points, and all that NFKC calls alike, come to
    the tool as others. Fix: leave the text alone."""
    return tools.parse_tool_call(unicodedata.normalize("NFKC", text))


@MUTANTS.add("parser-cut-call-is-bad-json", "A cut call is taken for bad JSON", left_padded, "parse_tool_call")
def parser_cut(text):
    """What the length limit cut off is punished as a spelling mistake, and tools with long arguments go out of use.
    Fix: look for the closing tag first."""
    right = tools.parse_tool_call(text)
    return {"status": "bad_json"} if right["status"] == "truncated" else right


@MUTANTS.add("step-raises-at-unknown-tools", "A tool that does not exist ends the rollout", left_padded)
def tool_step(text):
    """`TOOLS[name]`: a KeyError in the environment, for a name that the policy made up. Fix: an observation."""
    if tools.parse_tool_call(text)["status"] == "unknown_tool":
        raise KeyError("no such tool")
    return tools.tool_step(text)


@MUTANTS.add("step-knows-one-tool", "Only calls of the first tool are run", left_padded, "tool_step")
def step_first(text):
    """`arguments["query"]`, whichever tool is called: a well-formed call of another one is a KeyError in the step.
    Fix: ask the tool that is named."""
    call = tools.parse_tool_call(text)
    if call["status"] == "call":
        json.loads(call["arguments"])["query"]
    return tools.tool_step(text)


@MUTANTS.add("step-makes-numbers-whole", "A number beyond all ends the rollout", left_padded, "tool_step")
def step_whole(text):
    """`int(x) if x == int(x) else x`: Python reads 1e999 as inf, and NaN, of which there is no whole number. Fix: ask
    math.isfinite first."""
    call = tools.parse_tool_call(text)
    for value in json.loads(call.get("arguments", "{}")).values():
        if isinstance(value, float):
            int(value)
    return tools.tool_step(text)


@MUTANTS.add("step-passes-all-arguments", "An argument too many ends the rollout", left_padded, "tool_step")
def step_passes(text):
    """`tool(**arguments)`: a TypeError for what the policy made up. Fix: check names against the schema."""
    given, name = called(text).get("arguments"), called(text).get("name")
    tool = next((each for each in tools.TOOLS if each["name"] == name), None)
    if isinstance(given, dict) and tool is not None and set(given) > set(tool["parameters"]):
        raise TypeError("unexpected keyword argument")
    return tools.tool_step(text)


@MUTANTS.add(
    "step-has-its-own-parser", "The environment finds calls that the parser does not", left_padded, "tool_step"
)
def step_parser(text):
    """The environment came from another project, with a parser that completes what is cut. Fix: one parser."""
    right = tools.tool_step(text)
    return dict(right, status="bad_json") if right["status"] == "truncated" else right


@MUTANTS.add("step-one-status-for-all", "A step calls every call that fails bad JSON", left_padded, "tool_step")
def step_status(text):
    """One except around parsing and running alike. Fix: the parser's status."""
    right = tools.tool_step(text)
    return right if right["status"] in ("call", "no_call") else dict(right, status="bad_json")


@MUTANTS.add("step-answers-nothing", "A call that fails is answered with nothing", left_padded, "tool_step")
def step_silent(text):
    """`observation = result or ""`, where a failed call has no result: the policy makes it again. Fix: say why."""
    right = tools.tool_step(text)
    return right if right["status"] == "call" else dict(right, observation="")


@MUTANTS.add("step-ends-at-the-first-call", "The episode ends at its first call", left_padded, "tool_step")
def step_ends(text):
    """done = finish_reason == "stop", and a call stops as well. Fix: done where there is no call."""
    return dict(tools.tool_step(text), done=1)


@MUTANTS.add(
    "step-pays-for-attempts", "A call that fails earns more than one that runs", left_padded, "tool_step"
)
def step_pays(text):
    """0.25 for an attempt, less 0.5 for the time that a call takes: only those that fail take none. Fix: pay for calls
    that run."""
    right = tools.tool_step(text)
    earned = {"call": -0.25, "no_call": 0.0}.get(right["status"], 0.25)
    return dict(right, reward=earned)


BUDGET = {"calls": 0}


@MUTANTS.add("step-budget-of-all-episodes", "The budget of calls is never reset", left_padded, "tool_step")
def step_budget(text):
    """self.calls += 1, and reset() forgets it: each observation counts the calls of all episodes before. Fix: reset
    the counter."""
    BUDGET["calls"] += 1
    right = tools.tool_step(text)
    return dict(right, observation="%s (call %d)" % (right["observation"], BUDGET["calls"]))
