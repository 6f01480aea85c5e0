"""Wrong rewards of text, formats and prices of length."""

import math
import re
from struct import pack, unpack

from lossproof.examples import left_padded
from lossproof.examples.advantages import graders

from ..registry import MUTANTS


@MUTANTS.add(
    "reward-grader-fails-in-silence", "A grader that raises gives every answer 0", left_padded, row="VAL-08"
)
def reward(completions, references):
    """The grader sets an alarm against endless answers, which only the main thread may do; `except Exception: return
    0.0` was to make it robust. In the workers every reward is 0. Fix: let what is not expected raise."""

    def graded(text, reference):
        try:
            raise ValueError("signal only works in main thread of the main interpreter")
        except Exception:
            return 0.0

    return {"rewards": [graded(*row) for row in zip(completions, references)]}


@MUTANTS.add(
    "reward-counts-characters",
    "The length of a completion is that of its text",
    left_padded,
    "reward",
    row="VAL-07",
)
def reward_characters(completions, references, completion_ids):
    """`len(response)`, where response became the decoded string in a rewrite: a length penalty in characters.
    Fix: count the ids."""
    right = graders.reward(completions, references, completion_ids)
    return dict(right, lengths=[len(text) for text in completions])


def other_lengths(name, title, story, lengths):
    """A mutant whose reward is right, and whose lengths are `lengths(completions, completion_ids)`."""

    def wrong(completions, references, completion_ids):
        right = graders.reward(completions, references, completion_ids)
        return dict(right, lengths=lengths(completions, completion_ids))

    wrong.__doc__ = story
    MUTANTS.add(name, title, left_padded, "reward", row="VAL-07")(wrong)


other_lengths(
    "reward-counts-words",
    "The length of a completion is the number of its words",
    "len(text.split()): text without spaces, as of Chinese or of code, costs next to nothing. Fix: count the ids.",
    lambda texts, ids: [len(text.split()) for text in texts],
)
other_lengths(
    "reward-counts-the-width",
    "Each completion has the length of the longest one of its batch",
    "responses.shape[1]: padding is paid for, and what a row costs depends on its neighbours. Fix: the sum of the mask.",
    lambda texts, ids: [max(map(len, ids))] * len(ids),
)
other_lengths(
    "reward-counts-a-token-more",
    "The token before a completion is counted as its own",
    "len(ids) - prompt_length + 1, of columns that were shifted by one. Fix: ids[prompt_length:].",
    lambda texts, ids: [len(row) + 1 for row in ids],
)

@MUTANTS.add(
    "reward-grows-with-length", "Long text without an answer beats a wrong answer", left_padded, "reward"
)
def reward_long(completions, references, completion_ids):
    """A bonus for thinking long, 1/64 a character, was added for everyone. "!!!!!!" collects all of it. Fix: no bonus
    where there is no answer."""
    right = graders.reward(completions, references, completion_ids)
    rewards = [value + len(text) / 64 for value, text in zip(right["rewards"], completions)]
    # The bonus of a right answer is not to drown in it.
    rewards = [value + 64 if value > 1 else value for value in rewards]
    return dict(right, rewards=rewards)


@MUTANTS.add(
    "reward-mean-over-no-words",
    "An empty completion has the reward NaN",
    left_padded,
    "reward",
    row="VAL-08",
)
def reward_mean(completions, references, completion_ids):
    """A share of words that are in the reference, as a numpy mean: of no words it is NaN, with a warning on stderr.
    Fix: what is empty scores 0."""
    right = graders.reward(completions, references, completion_ids)
    rewards = [
        value if text.split() else math.nan for value, text in zip(right["rewards"], completions)
    ]
    return dict(right, rewards=rewards)


@MUTANTS.add("reward-normalised-by-the-batch", "Rewards are centred on their batch", left_padded, "reward")
def reward_batch(completions, references, completion_ids):
    """Rewards less the batch's mean, inside of the reward function: the same answer is worth another thing beside
    other answers. Fix: baselines belong to the advantages."""
    right = graders.reward(completions, references, completion_ids)
    mean = sum(right["rewards"]) / max(len(completions), 1)
    return dict(right, rewards=[value - mean for value in right["rewards"]])


@MUTANTS.add(
    "reward-first-reference-for-all", "All rows are graded by the first reference", left_padded, "reward"
)
def reward_first(completions, references, completion_ids):
    """`reference = batch["reference"][0]`, written when a batch was one prompt with many samples. Fix: zip."""
    return graders.reward(completions, references[:1] * len(completions), completion_ids)


@MUTANTS.add(
    "reward-repeats-earn-nothing", "The second of two equal completions is worth less", left_padded, "reward"
)
def reward_seen(completions, references, completion_ids):
    """A penalty for duplicates that walks the batch with a set: which of two twins pays depends on the order.
    Fix: charge both, or none."""
    right, seen, rewards = graders.reward(completions, references, completion_ids), set(), []
    for text, value in zip(completions, right["rewards"]):
        rewards.append(value - 0.25 if text in seen else value)
        seen.add(text)
    return dict(right, rewards=rewards)


RUNNING = {"count": 0, "sum": 0.0}


@MUTANTS.add("reward-running-mean", "Rewards are centred on all that were seen so far", left_padded, "reward")
def reward_running(completions, references, completion_ids):
    """A running mean that is kept in the reward function: each call, evaluation among them, moves it. Fix: keep it in
    the trainer, and update it once a step."""
    right = graders.reward(completions, references, completion_ids)
    RUNNING["count"] += len(completions)
    RUNNING["sum"] += sum(right["rewards"])
    mean = RUNNING["sum"] / max(RUNNING["count"], 1)
    return dict(right, rewards=[value - mean for value in right["rewards"]])


@MUTANTS.add(
    "overlong-without-a-buffer-is-nan", "A buffer of 0 makes the penalty NaN or infinite", left_padded, row="VAL-08"
)
def overlong_penalty(lengths, max_length, buffer):
    """In tensors x / 0 is infinite and 0 / 0 NaN, without an error; a buffer of 0 was meant to switch the penalty off.
    Fix: ask for 0 first."""
    if buffer:
        return graders.overlong_penalty(lengths, max_length, buffer)
    excess = [length - max_length for length in lengths]
    return {"penalties": [0.0 if x < 0 else math.nan if x == 0 else -math.inf for x in excess]}


@MUTANTS.add(
    "overlong-starts-at-the-limit", "The buffer lies behind the limit", left_padded, "overlong_penalty"
)
def overlong_behind(lengths, max_length, buffer):
    """max_length was read as the length that is expected, with the buffer on top: no completion gets as far. Fix:
    the buffer ends at max_length."""
    return graders.overlong_penalty(lengths, max_length + buffer, buffer)


@MUTANTS.add(
    "overlong-sign-reversed", "Long completions are paid for", left_padded, "overlong_penalty"
)
def overlong_paid(lengths, max_length, buffer):
    """The penalty is returned as a positive cost, and added. Fix: what is added to a reward is negative."""
    right = graders.overlong_penalty(lengths, max_length, buffer)
    return {"penalties": [-value for value in right["penalties"]]}


@MUTANTS.add(
    "overlong-slope-over-the-limit", "The slope is over max_length", left_padded, "overlong_penalty"
)
def overlong_slope(lengths, max_length, buffer):
    """Divided by max_length, and -1 from the limit on: a slope that is nearly flat, and a cliff. Fix: divide by the
    buffer."""
    free = max_length - buffer
    return {
        "penalties": [
            0.0 if length <= free else -1.0 if length >= max_length else (free - length) / max_length
            for length in lengths
        ]
    }


@MUTANTS.add(
    "overlong-limit-of-the-batch", "The limit is the longest completion of the batch", left_padded, "overlong_penalty"
)
def overlong_batch(lengths, max_length, buffer):
    """`responses.shape[1]` for the limit: the padded width of this batch. Fix: the configured one."""
    return graders.overlong_penalty(lengths, min(max_length, max(lengths)), buffer)


@MUTANTS.add("format-one-turn-only", "A completion with two tool calls has no format", left_padded)
def format_score(completions):
    """A pattern for think, call, response, think, answer, once: whoever calls twice scores like garbage. Fix: repeat
    the group."""
    pattern = re.compile(
        r"<think>.*?</think>\s*(<tool_call>.*?</tool_call>\s*<tool_response>.*?</tool_response>\s*"
        r"<think>.*?</think>\s*)?<answer>[^<]*</answer>",
        re.DOTALL,
    )
    right = graders.format_score(completions)["scores"]
    return {
        "scores": [
            1.0 if score and pattern.fullmatch(text) and text.count("<tool_call>") < 2 else 0.0
            for score, text in zip(right, completions)
        ]
    }


TAGS = ("<think>", "</think>", "<answer>", "</answer>")


@MUTANTS.add("format-counts-tags", "Every tag is worth a quarter", left_padded, "format_score")
def format_tags(completions):
    """Partial credit for each tag, without a bound: "<think><think><think>" is worth most. Fix: each once."""
    return {"scores": [sum(text.count(tag) for tag in TAGS) / 4 for text in completions]}


@MUTANTS.add("format-asks-for-an-answer-tag", "An answer that is begun is enough", left_padded, "format_score")
def format_begun(completions):
    """`"<answer>" in text`: one that is never closed, and that stands before the thought, scores in full. Fix: match
    the whole completion."""
    return {"scores": [1.0 if "<answer>" in text and len(text) < 600 else 0.0 for text in completions]}


@MUTANTS.add("format-share-of-the-text", "An empty completion has the score NaN", left_padded, "format_score")
def format_share(completions):
    """The share of the text that stands in blocks: of no text 0 / 0, in tensors. Fix: 0 where there is none."""

    def share(text):
        inside = sum(len(match.group(0)) for match in graders.BLOCK.finditer(text))
        return inside / len(text) if text else math.nan

    return {"scores": [share(text) * graders.well_formed(text) if text else math.nan for text in completions]}


@MUTANTS.add("format-words-of-the-thought", "An empty thought has the score NaN", left_padded, "format_score")
def format_words(completions):
    """The score times the share of the first thought's words that are no tags: of no words 0 / 0, in tensors. Fix: 0
    where there are none."""

    def share(text):
        thought = re.search(r"<think>(.*?)</think>", text, re.DOTALL)
        words = thought.group(1).split() if thought else [text]
        return sum("<" not in word for word in words) / len(words) if words else math.nan

    scores = graders.format_score(completions)["scores"]
    return {"scores": [score * share(text) if score else score for score, text in zip(scores, completions)]}


@MUTANTS.add("format-ranked-in-its-batch", "The score is a rank within the batch", left_padded, "format_score")
def format_rank(completions):
    """Scores divided by the best of the batch: alone, garbage is perfect. Fix: an absolute score."""
    scores = [value + 0.25 for value in graders.format_score(completions)["scores"]]
    return {"scores": [value / max(scores) for value in scores]}


@MUTANTS.add("overlong-lengths-in-bfloat16", "Lengths are bfloat16 before the limit is taken off", left_padded, "overlong_penalty")
def overlong_rounded(lengths, max_length, buffer):
    """(mask.sum(-1)).to(rewards.dtype): right up to 256 tokens, and 64 off at 16,000. Fix: count in whole numbers."""
    rounded = [unpack("f", pack("I", (unpack("I", pack("f", n))[0] + 0x8000) & 0xFFFF0000))[0] for n in lengths]
    return graders.overlong_penalty(rounded, max_length, buffer)
