"""Wrong scores of what is rarely drawn: long prompts, low temperatures, many packed rows, numbers that half precision lacks."""

import math
from struct import pack, unpack

from lossproof.examples import left_padded
from lossproof.examples.scores import critic
from lossproof.examples.scores.entropies import over_completions

from ..registry import MUTANTS

WINDOW = 24


def ends(prompt_ids):
    return [ids[-WINDOW:] for ids in prompt_ids]


@MUTANTS.add("score-of-a-window", "Scores see the end of a long prompt only", left_padded, "score", row="TPL-07")
def score(prompt_ids, completion_ids, packed=False):
    """The scorer's max_prompt_length is another than the sampler's: long prompts are scored without their beginning. Fix: one
    limit, set in one place."""
    return left_padded.score(ends(prompt_ids), completion_ids, packed)


@MUTANTS.add("values-of-a-window", "The critic sees the end of a long prompt only", left_padded, "values", row="TPL-07")
def values(prompt_ids, completion_ids):
    """As score-of-a-window, in the critic's worker."""
    return critic.values(ends(prompt_ids), completion_ids)


@MUTANTS.add("scores-of-a-window", "The reward model sees the end of a long prompt only", left_padded, "reward_model", row="TPL-07")
def reward_model(prompt_ids, completion_ids):
    """As score-of-a-window, in the reward model's tokenizer: truncation=True, and the side is left. Fix: an error where a prompt is
    too long."""
    return critic.reward_model(ends(prompt_ids), completion_ids)


@MUTANTS.add(
    "logprobs-temperature-has-a-floor", "A temperature below 0.3 counts as 0.3", left_padded, "logprobs", row="LP-05"
)
def logprobs(input_ids, logits, prompt_width, temperature):
    """max(temperature, 0.3), so that nothing overflows; the sampler has no such floor. Fix: an error where it is too low."""
    return left_padded.logprobs(input_ids, logits, prompt_width, max(temperature, 0.3))


@MUTANTS.add("packed-scores-of-eight-rows", "In one packed row, those behind the eighth have no scores of their own", left_padded, "score", row="PCK-01")
def packed_scores(prompt_ids, completion_ids, packed=False):
    """cu_seqlens has nine entries, and further boundaries are not set. Fix: as many as rows, and one."""
    rows = left_padded.score(prompt_ids, completion_ids, packed)["logprobs"]
    return {"logprobs": [row if at < 8 or not packed else [-1.0] * len(row) for at, row in enumerate(rows)]}


@MUTANTS.add("entropy-in-half-precision", "Entropies are those of logits in float16", left_padded, "entropy", row="NUM-03")
def entropy(logits, completion_mask, prompt_width):
    """Logits are kept in half precision to save memory, and read back. Fix: keep them as they are, or declare the dtype."""
    half = [[[unpack("e", pack("e", z))[0] for z in row] for row in rows] for rows in logits]
    return over_completions(half, completion_mask, prompt_width)




LIMIT = 1024


@MUTANTS.add("score-of-1024", "Scores are behind the last 1,024 tokens of a prompt", left_padded, "score", row="TPL-07")
def score_of_1024(prompt_ids, completion_ids, packed=False):
    """As score-of-a-window, at the width that is the default. Fix: refuse what does not fit."""
    return left_padded.score([ids[-LIMIT:] for ids in prompt_ids], completion_ids, packed)


@MUTANTS.add("values-of-1024", "The critic sees the last 1,024 tokens of a prompt", left_padded, "values", row="TPL-07")
def values_of_1024(prompt_ids, completion_ids):
    """As score-of-1024, in the critic's worker."""
    return critic.values([ids[-LIMIT:] for ids in prompt_ids], completion_ids)


@MUTANTS.add("scores-of-512", "The reward model sees the first 512 tokens of a row", left_padded, "reward_model", row="TPL-07")
def scores_of_512(prompt_ids, completion_ids):
    """max_length of the classifier's tokenizer, on the right: behind a long prompt every answer has the same score. Fix: refuse what
    does not fit."""
    rows = [(prompt + completion)[:512] for prompt, completion in zip(prompt_ids, completion_ids)]
    return critic.reward_model(rows, [[] for _ in rows])



def of_none(name, title, story, wrong):
    """Wrong only where some completion has no token."""

    def score(prompt_ids, completion_ids, packed=False):
        if all(completion_ids):
            return left_padded.score(prompt_ids, completion_ids, packed)
        return {"logprobs": wrong(prompt_ids, completion_ids)}

    score.__doc__ = story
    MUTANTS.add(name, title, left_padded, "score", row="LP-23")(score)


def right_scores(prompt_ids, completion_ids):
    return left_padded.score(prompt_ids, completion_ids)["logprobs"]


def behind_the_first_prompts(prompt_ids, completion_ids):
    places = [at for at, ids in enumerate(completion_ids) if ids]
    scored = right_scores(prompt_ids[: len(places)], [completion_ids[at] for at in places])
    return [scored[places.index(at)] if ids else [] for at, ids in enumerate(completion_ids)]


of_none(
    "score-of-nothing-moves-the-prompts",
    "Beside a completion without tokens, completions are scored after the prompts of other rows",
    "Completions without tokens were left out of the pass, and their prompts were not.",
    behind_the_first_prompts,
)
of_none(
    "score-of-nothing-is-a-pad",
    "Beside a completion without tokens, scores are cut out one column early",
    "A pad stands in for the missing token, so that the width is never 0, and the slice is not moved.",
    lambda prompts, completions: [([-1.0] + row)[: len(row)] for row in right_scores(prompts, completions)],
)
of_none(
    "score-of-nothing-takes-the-batch",
    "Beside a completion without tokens, all scores are 0",
    "min(lengths) > 0 guards the pass; otherwise zeros stand in for it.",
    lambda prompts, completions: [[0.0] * len(ids) for ids in completions],
)
of_none(
    "score-of-nothing-is-no-number",
    "Beside a completion without tokens, all scores are NaN",
    "Scores are centred by the mean of each row, and that of no tokens is 0/0: it spreads through the norm of the batch.",
    lambda prompts, completions: [[math.nan] * len(ids) for ids in completions],
)
