"""Wrong cuts of what tools say, for op trajectory."""

from conformance import right_padded
from lossproof.examples import left_padded, stop_excluded
from lossproof.examples.rollouts.trajectory import cut_tools, row, row_a_turn, rows_of, trajectory, without_stops

from ..registry import MUTANTS

LAYER = "trajectory"


def behind_the_cut(*words, **more):
    """Registers a mistake that comes behind a right cut: the function is handed turns of which nothing is too long."""

    def register(function):
        def op(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
            return function(prompt_ids, cut_tools(turns, max_tool_tokens), advantage, eos_token_ids)

        op.__doc__ = function.__doc__
        MUTANTS.add(*words, **more)(op)
        return function

    return register


@MUTANTS.add(
    "tool-output-loses-its-end",
    "What a tool said is cut at the other end than declared",
    stop_excluded,
    LAYER,
    row="MT-05",
)
def other_end(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
    """`left` was read as the side that stays. A search keeps its first lines and loses the last, which had the result.
    Fix: ids are lost on the side that is named, as tokenizers have it."""
    return without_stops(prompt_ids, cut_tools(turns, max_tool_tokens, "right"), advantage, eos_token_ids)


@MUTANTS.add(
    "tool-output-loses-its-beginning",
    "What a tool said is cut by its last ids",
    left_padded,
    LAYER,
    row="MT-05",
)
def last_ids(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
    """ids[-limit:] is how prompts are cut. Fix: ids[:limit], as the setting says."""
    return trajectory(prompt_ids, cut_tools(turns, max_tool_tokens, "left"), advantage, eos_token_ids)


@MUTANTS.add(
    "tool-output-is-one-too-long",
    "What a tool said keeps one id more than the limit",
    left_padded,
    LAYER,
    row="MT-05",
)
def one_more(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
    """`len(ids) > limit` was `len(ids) - 1 > limit`, to leave room for a line end that is no longer written.
    Fix: the limit is that of the ids that stay."""
    return trajectory(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens and max_tool_tokens + 1)


@MUTANTS.add(
    "tool-output-that-fits-is-cut",
    "What a tool said loses an id even where it fits",
    left_padded,
    LAYER,
    row="MT-05",
)
def always(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
    """`ids[:min(limit, len(ids) - 1)]`: the last id was the tokenizer's own stop once. Fix: ids[:limit]."""
    cut = [
        dict(turn, ids=turn["ids"][: min(max_tool_tokens, len(turn["ids"]) - 1)])
        if max_tool_tokens is not None and turn["role"] == "tool" and turn["ids"]
        else turn
        for turn in turns
    ]
    return trajectory(prompt_ids, cut, advantage, eos_token_ids)


@MUTANTS.add(
    "users-are-cut-as-tools-are",
    "What a user said is cut as well",
    right_padded,
    LAYER,
    row="MT-05",
)
def users(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
    """Whatever the environment hands back is an observation, the user's next question among them, which ends in its
    middle. Fix: cut by role."""
    cut = [
        dict(turn, ids=turn["ids"][:max_tool_tokens]) if turn["role"] != "assistant" else turn for turn in turns
    ]
    return row_a_turn(prompt_ids, cut, advantage, eos_token_ids)


@MUTANTS.add(
    "tool-output-is-cut-together",
    "The limit is that of all tools of a step together",
    left_padded,
    LAYER,
    row="MT-05",
)
def together(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
    """Responses of parallel calls were joined before they were cut: the second tool has what the first one left.
    Fix: cut each response by itself."""
    out, room = [], max_tool_tokens
    for turn in turns:
        if turn["role"] == "assistant":
            room = max_tool_tokens
        elif turn["role"] == "tool" and room is not None:
            turn = dict(turn, ids=turn["ids"][:room])
            room -= len(turn["ids"])
        out.append(turn)
    return trajectory(prompt_ids, out, advantage, eos_token_ids)


@MUTANTS.add(
    "rows-are-cut-as-tool-output",
    "The whole row is cut where a tool's response is too long",
    left_padded,
    LAYER,
    row="MT-05",
)
def whole_row(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
    """The cut was made on the joined state behind the response, from its end: what was sampled goes with it.
    Fix: cut the response before it is joined."""
    whole = row(prompt_ids, turns, eos_token_ids)
    over = [
        len(turn["ids"]) - max_tool_tokens
        for turn in turns
        if max_tool_tokens is not None and turn["role"] == "tool" and len(turn["ids"]) > max_tool_tokens
    ]
    if over:
        for name in ("input_ids", "loss_mask", "completion_mask", "logprobs"):
            whole[name] = whole[name][: len(whole[name]) - sum(over)]
    return rows_of([whole], advantage)


@MUTANTS.add(
    "masks-know-uncut-tool-output",
    "Masks are made before what a tool said is cut",
    left_padded,
    LAYER,
    row="TRN-05",
    rows=("MSK-08",),
)
def masks_before(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
    """The environment hands over a response and its mask of zeros, and only the response is cut: everything behind it is
    trained too far to the right. Fix: cut first, and take the mask from what is left."""
    before = row(prompt_ids, turns, eos_token_ids)
    whole = row(prompt_ids, cut_tools(turns, max_tool_tokens), eos_token_ids)
    length = len(whole["input_ids"])
    whole.update(loss_mask=before["loss_mask"][:length], completion_mask=before["loss_mask"][:length])
    return rows_of([whole], advantage)


@MUTANTS.add(
    "logprobs-know-uncut-tool-output",
    "Zeros for log-probabilities are laid out before what a tool said is cut",
    left_padded,
    LAYER,
    row="TRN-05",
    rows=("MSK-08",),
)
def logprobs_before(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
    """The same of the engine's numbers: a zero for each id of the response as it came. Fix: extend all tracks by what is
    joined."""
    before = row(prompt_ids, turns, eos_token_ids)
    whole = row(prompt_ids, cut_tools(turns, max_tool_tokens), eos_token_ids)
    whole["logprobs"] = before["logprobs"][: len(whole["input_ids"])]
    return rows_of([whole], advantage)


@MUTANTS.add("tool-output-of-256-at-most", "What a tool said ends at its token 256, unasked", left_padded, LAYER, row="MT-05")
def at_most(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
    """The limit has a default. Of a page that was read, the policy is trained without what it answers. Fix: no limit where none
    is asked for."""
    limit = 256 if max_tool_tokens is None else max_tool_tokens
    return trajectory(prompt_ids, cut_tools(turns, limit), advantage, eos_token_ids)


@MUTANTS.add("rollouts-of-2048-at-most", "Rows of a rollout end at token 2,048", left_padded, LAYER, row="TRN-06")
def rows_at_most(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None):
    """max_model_len of the engine, on rows that are no request any more: turns behind it are lost, and nothing says so. Fix: leave
    the rollout out, or mark it as truncated."""
    answer = trajectory(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens)
    tracks = ("input_ids", "loss_mask", "completion_mask", "logprobs", "advantages")
    cut = {name: [row[:2048] for row in answer[name]] for name in tracks}
    return dict(answer, **cut, response_lengths=[sum(row) for row in cut["loss_mask"]])
