"""Op tool_step: the environment, execute_predictions, at the text of a turn. Its one tool takes any text."""

import lossproof
from lossproof.adapters.search_r1._agent import Retriever, manager_of
from lossproof.adapters.search_r1._model import tokenizer
from lossproof.adapters.search_r1._parts import generation, search
from lossproof.testing import replaced

import torch

TAGS = {"think": "think", "tool_call": "search", "tool_response": "information", "answer": "answer"}
TOOLS = [{"name": "search", "parameters": {"query": "string"}}]

search.lacks["parse_tool_call"] = "a query of Search-R1 is whatever stands between the tags: no JSON, which could be wrong"


@lossproof.op(tags=TAGS, tool_specs=TOOLS)
def tool_step(text):
    """What is graded is the end of an episode: a step of the environment pays nothing."""
    with replaced(generation, requests=Retriever):
        observations, ended, _, searched = manager_of(tokenizer).execute_predictions(
            [text], tokenizer.pad_token, torch.ones(1, dtype=torch.bool)
        )
    return {
        "observation": observations[0],
        "reward": 0.0,
        "status": "call" if searched[0] else "no_call",
        "done": int(ended[0]),
    }
