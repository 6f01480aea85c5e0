"""Wrong parsers of tool calls, and wrong environments."""

import json
import re

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


@MUTANTS.add(
    "step-has-its-own-parser", "The environment finds calls that the parser does not", left_padded, "tool_step"
)
def step_parser(text):
    """The environment came from another project, with a parser that completes what is cut. Fix: one parser."""
    right = tools.tool_step(text)
    return dict(right, status="bad_json") if right["status"] == "truncated" else right


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
