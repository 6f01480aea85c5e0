"""Scores of texts."""

import re

BLOCK = re.compile(r"<(think|search|information|answer)>.*?</\1>", re.DOTALL)
FOLLOWS = {
    None: {"think"},
    "think": {"search", "answer"},
    "search": {"information"},
    "information": {"think"},
    "answer": set(),
}


def extract_solution(solution_str):
    found = re.findall(r"<answer>(.*?)</answer>", solution_str, re.DOTALL)
    return found[-1].strip() if found else None


def compute_score_em(solution_str, ground_truth, format_score=0.0, score=1.0):
    answer = extract_solution(solution_str)
    if answer is None:
        return 0.0
    right = [target.lower() for target in ground_truth["target"]]
    return score if answer.lower() in right else format_score


def is_valid_sequence(text):
    """Blocks behind each other, in order, the last of them an answer."""
    before, at = None, 0
    for block in BLOCK.finditer(text):
        if text[at : block.start()].strip() or block.group(1) not in FOLLOWS[before]:
            return False
        if re.search(r"</?(think|search|information|answer)>", block.group()[1:].split(">", 1)[1].rsplit("</", 1)[0]):
            return False
        before, at = block.group(1), block.end()
    return before == "answer" and not text[at:].strip()
