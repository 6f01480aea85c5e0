"""Tool calls: what is made of the text of one assistant turn, and the environment's answer to it.

A model writes anything. Every text has a status, and none of them raises."""

import json

OPEN, CLOSE = "<tool_call>", "</tool_call>"
TOOLS = [
    {"name": "search", "parameters": {"query": "string"}},
    {"name": "add", "parameters": {"a": "number", "b": "number"}},
    {"name": "light", "parameters": {"room": "string", "on": "boolean"}},
]
# bool first: in Python it is an int as well.
TYPES = {"string": (str,), "number": (int, float), "boolean": (bool,)}
GOOD_CALL, FAILED_CALL = 0.125, -0.125


def parse_tool_call(text):
    """`status`, and for a call its name and arguments as JSON."""
    if OPEN not in text:
        return {"status": "no_call"}
    body = text.split(OPEN, 1)[1]
    if CLOSE not in body:
        return {"status": "truncated"}
    try:
        # The decoder knows where the object ends; a closing tag within a string is not the end of it.
        call, end = json.JSONDecoder().raw_decode(body.lstrip())
    except (ValueError, RecursionError):
        return {"status": "bad_json"}
    if not body.lstrip()[end:].lstrip().startswith(CLOSE):
        return {"status": "bad_json"}
    return checked(call)


def checked(call):
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return {"status": "bad_json"}
    tool = next((tool for tool in TOOLS if tool["name"] == call["name"]), None)
    if tool is None:
        return {"status": "unknown_tool"}
    arguments = call.get("arguments")
    if not isinstance(arguments, dict) or arguments.keys() != tool["parameters"].keys():
        return {"status": "bad_arguments"}
    if not all(fits(arguments[name], kind) for name, kind in tool["parameters"].items()):
        return {"status": "bad_arguments"}
    return {"status": "call", "name": call["name"], "arguments": json.dumps(arguments)}


def fits(value, kind):
    return isinstance(value, TYPES[kind]) and isinstance(value, bool) == (kind == "boolean")


def tool_step(text):
    """One step of the environment: a call is run, a failed one is told why, anything else ends the episode."""
    parsed = parse_tool_call(text)
    status = parsed["status"]
    if status == "no_call":
        return {"observation": "", "reward": 0.0, "status": status, "done": 1}
    if status == "call":
        observation = run(parsed["name"], json.loads(parsed["arguments"]))
        return {"observation": observation, "reward": GOOD_CALL, "status": status, "done": 0}
    return {"observation": "Error: %s" % status, "reward": FAILED_CALL, "status": status, "done": 0}


def run(name, arguments):
    if name == "add":
        return json.dumps(arguments["a"] + arguments["b"])
    return "%s: %s" % (name, json.dumps(arguments, ensure_ascii=False))


OPS = {
    "parse_tool_call": (parse_tool_call, {"tool_specs": TOOLS}),
    "tool_step": (tool_step, {"tool_specs": TOOLS}),
}
SEMANTICS = {}
