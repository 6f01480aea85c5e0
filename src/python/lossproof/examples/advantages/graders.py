"""Rewards of text: a graded answer, its format, and the price of going on for too long.

Each row is judged alone, from its own text and reference: nothing is remembered from one call to the next."""

import re

WRONG, MISSING = 0.0, -0.5
# A completion of blocks: thoughts and tool calls in turn, and an answer at the end.
BLOCK = re.compile(r"<(think|tool_call|tool_response|answer)>\n?(.*?)\n?</\1>\s*", re.DOTALL)
ORDER = re.compile(r"think(,tool_call,tool_response,think)*,answer")

SAMPLES = [
    {
        "prompt": "What is 17 + 25?",
        "reference": "42",
        "right": "<think>\n17 + 25 = 42\n</think>\n<answer>\n42\n</answer>",
        "wrong": "<think>\n17 + 25 = 32\n</think>\n<answer>\n32\n</answer>",
    },
    {
        "prompt": "Wie heißt die Hauptstadt von Österreich?",
        "reference": "Wien",
        "right": "<think>\nÖsterreich: Wien.\n</think>\n<answer>\nWien\n</answer>",
        "wrong": "<think>\nÖsterreich: Graz?\n</think>\n<answer>\nGraz\n</answer>",
    },
    {
        "prompt": "日本の首都は?",
        "reference": "東京",
        "right": "<answer>\n東京\n</answer>",
        "wrong": "<answer>\n京都\n</answer>",
    },
]


def reward(completions, references, completion_ids):
    """1 for the reference as the answer, less for another one, least where there is none; lengths are of ids."""
    return {
        "rewards": [graded(text, reference) for text, reference in zip(completions, references)],
        "lengths": [len(ids) for ids in completion_ids],
    }


def graded(text, reference):
    given = answer_of(text)
    if given is None:
        return MISSING
    return 1.0 if given == reference.strip() else WRONG


def answer_of(text):
    """The last answer block's text; None where there is none."""
    answers = [content for tag, content in BLOCK.findall(text) if tag == "answer"]
    return answers[-1].strip() if answers else None


def overlong_penalty(lengths, max_length, buffer):
    """Soft overlong punishment (DAPO, arXiv 2503.14476, equation 13); without a buffer the limit itself is the edge."""
    return {"penalties": [overlong(length, max_length, buffer) for length in lengths]}


def overlong(length, max_length, buffer):
    free = max_length - buffer
    if length <= free:
        return 0.0
    return -1.0 if length > max_length or buffer == 0 else (free - length) / buffer


def format_score(completions):
    return {"scores": [1.0 if well_formed(text) else 0.0 for text in completions]}


def well_formed(text):
    """Nothing but blocks, in order, and no tag left over within one."""
    blocks = BLOCK.findall(text)
    rest = BLOCK.sub("", text).strip()
    inside = any(re.search(r"</?(think|tool_call|tool_response|answer)>", content) for _, content in blocks)
    return not rest and not inside and bool(ORDER.fullmatch(",".join(tag for tag, _ in blocks)))


OPS = {
    "reward": (reward, {"samples": SAMPLES}),
    "overlong_penalty": overlong_penalty,
    "format_score": format_score,
}
SEMANTICS = {}
