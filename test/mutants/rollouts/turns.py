"""Wrong rollouts of several turns: what was sampled and what was injected, spliced and masked as people do it."""

from conformance import right_padded
from lossproof.examples import left_padded
from lossproof.examples.lists import through_stop
from lossproof.examples.rollouts.trajectory import row, row_a_turn, rows_of, trajectory as one_row
from lossproof.examples.text.chat import tokenizer

from ..registry import MUTANTS
from .cuts import LAYER, behind_the_cut


def longer(turn, ids):
    """The turn with other ids; numbers that are missing are those of a token that was certain."""
    logprobs = (turn["logprobs"] + [0.0] * len(ids))[: len(ids)] if turn["role"] == "assistant" else []
    return dict(turn, ids=ids, logprobs=logprobs)


@behind_the_cut(
    "turns-retokenised", "Turns go through text before they are trained", left_padded, LAYER, row="MT-01"
)
def retokenised(prompt_ids, turns, advantage, eos_token_ids):
    """The agent loop keeps a list of messages, and the rows are made of its rendered text: ids that the policy sampled
    become those that the tokenizer would have chosen. Fix: carry ids from the sampler to the trainer."""
    again = [longer(turn, tokenizer.encode(tokenizer.decode(turn["ids"]))) for turn in turns]
    return one_row(prompt_ids, again, advantage, eos_token_ids)


@behind_the_cut(
    "turns-cut-are-closed-on-their-last-token",
    "The last token of a cut turn is taken for its stop",
    left_padded,
    LAYER,
    row="MT-02",
)
def closed(prompt_ids, turns, advantage, eos_token_ids):
    """The bridge to the next message replaces the last token of a turn by the template's stop token: after a turn that
    ran into its limit that was a word. Fix: refuse to go on behind a cut turn, or leave its ids alone."""
    out = []
    for turn in turns:
        if turn["role"] == "assistant" and turn["ids"]:
            said = through_stop(turn["ids"], eos_token_ids)
            turn = longer(turn, said[:-1] + (said[-1:] if said[-1] in eos_token_ids else eos_token_ids[:1]))
        out.append(turn)
    return one_row(prompt_ids, out, advantage, eos_token_ids)


@behind_the_cut(
    "turns-cut-get-a-stop", "A turn that was cut is given a stop token", left_padded, LAYER, row="EOS-06"
)
def stopped(prompt_ids, turns, advantage, eos_token_ids):
    """`if ids[-1] != eos: ids.append(eos)`, so that the next message begins behind a closed one; the mask is made from
    the new length. Fix: append nothing that was not sampled."""
    cut = [turn["finish_reason"] == "length" for turn in turns]
    out = [longer(turn, turn["ids"] + eos_token_ids[:1] * at_limit) for turn, at_limit in zip(turns, cut)]
    return one_row(prompt_ids, out, advantage, eos_token_ids)


@behind_the_cut(
    "turns-train-past-their-stop",
    "What the sampler wrote behind the end of a turn is trained",
    left_padded,
    LAYER,
    row="MT-04",
)
def past_the_stop(prompt_ids, turns, advantage, eos_token_ids):
    """The sampler was not given the stop of a tool call and invented the result as well; the loop cut the text for the
    tool and kept the ids. Fix: cut ids, mask and log-probabilities at the first stop."""
    return one_row(prompt_ids, turns, advantage, [])


@behind_the_cut("turns-train-tool-output", "Tool output is trained", left_padded, LAYER, row="MSK-02")
def tool_output(prompt_ids, turns, advantage, eos_token_ids):
    """response_mask is 1 on everything behind the prompt that is no user message. Fix: 1 on what was sampled."""
    said = [
        dict(turn, role="assistant", logprobs=[0.0] * len(turn["ids"])) if turn["role"] == "tool" else turn
        for turn in turns
    ]
    whole = row(prompt_ids, turns, eos_token_ids)
    # Stop tokens within the output must not cut it.
    mask = [0] * len(prompt_ids)
    for turn, right in zip(said, turns):
        ids = turn["ids"] if right["role"] != "assistant" else through_stop(turn["ids"], eos_token_ids)
        mask += [int(turn["role"] == "assistant")] * len(ids)
    return rows_of([dict(whole, loss_mask=mask, completion_mask=list(mask))], advantage)


@behind_the_cut(
    "turns-mask-tool-logprobs-only",
    "The loss mask trains tool output, the completion mask does not",
    left_padded,
    LAYER,
    row="MSK-12",
    rows=("MSK-02",),
)
def two_masks(prompt_ids, turns, advantage, eos_token_ids):
    """Rollouts that were cut off are emptied in completion_mask; the mask of tool output, which is what the loss
    multiplies with, was forgotten. Fix: derive all masks from one."""
    whole = row(prompt_ids, turns, eos_token_ids)
    if whole["truncated"]:
        whole["completion_mask"] = [0] * len(whole["completion_mask"])
    return rows_of([whole], advantage)


@behind_the_cut(
    "turns-resumed-keep-the-old-mask",
    "The mask is not extended when generation is resumed",
    left_padded,
    LAYER,
    row="MSK-08",
)
def resumed(prompt_ids, turns, advantage, eos_token_ids):
    """An interrupted generation is continued in the next step: its ids and log-probabilities are appended to the sample,
    its mask was made when the first part came back. Fix: append to all tracks in one place."""
    whole = row(prompt_ids, turns, eos_token_ids)
    for at, turn in enumerate(turns[1:], start=1):
        if turns[at - 1]["finish_reason"] == "length":
            kept = len(row(prompt_ids, turns[:at], eos_token_ids)["input_ids"])
            whole["loss_mask"] = whole["loss_mask"][:kept]
            break
    return dict(
        rows_of([dict(whole)], advantage),
        advantages=[[advantage] * len(whole["input_ids"])],
    )


@behind_the_cut(
    "turns-train-the-last-only",
    "Only the last turn of a rollout is trained",
    left_padded,
    LAYER,
    row="MSK-09",
)
def last_only(prompt_ids, turns, advantage, eos_token_ids):
    """The row was split at the last prompt, as for single questions. Fix: a mask for each turn, or a row a turn."""
    return rows_of([only(prompt_ids, turns, eos_token_ids, max)], advantage)


def only(prompt_ids, turns, eos_token_ids, choose):
    whole = row(prompt_ids, turns, eos_token_ids)
    at = choose(at for at, turn in enumerate(turns) if turn["role"] == "assistant")
    start = len(row(prompt_ids, turns[:at], eos_token_ids)["input_ids"])
    end = len(row(prompt_ids, turns[: at + 1], eos_token_ids)["input_ids"])
    mask = [int(on and start <= t < end) for t, on in enumerate(whole["loss_mask"])]
    return dict(whole, loss_mask=mask)


@behind_the_cut(
    "turns-train-the-first-only",
    "Only the first turn is trained",
    left_padded,
    LAYER,
    row="MSK-09",
)
def first_only(prompt_ids, turns, advantage, eos_token_ids):
    """The mask ends where the first run of ones does: argmin of the mask was to find the padding. Fix: carry lengths."""
    return rows_of([only(prompt_ids, turns, eos_token_ids, min)], advantage)


@behind_the_cut(
    "turns-are-trained-again-in-later-rows",
    "Every row trains its whole history",
    right_padded,
    LAYER,
)
def again(prompt_ids, turns, advantage, eos_token_ids):
    """One row a turn, each with the mask of all that the assistant wrote in it: the first turn of a long rollout is
    trained as often as there are turns. Fix: each row trains its own turn."""
    right = row_a_turn(prompt_ids, turns, advantage, eos_token_ids)
    rows = [
        dict(input_ids=ids, loss_mask=mask, completion_mask=mask, logprobs=logprobs, truncated=cut)
        for ids, mask, logprobs, cut in zip(
            right["input_ids"], right["completion_mask"], right["logprobs"], right["truncated"]
        )
    ]
    return rows_of(rows, advantage)


@behind_the_cut(
    "turns-lose-their-history", "Each row is the prompt and its own turn", right_padded, LAYER, row="TPL-03"
)
def without_history(prompt_ids, turns, advantage, eos_token_ids):
    """Steps are stored as (prompt, answer), and the prompt stored is that of the first step: answers are scored behind
    a conversation that they were not given for. Fix: store the prompt ids of each step as the sampler got them."""
    rows = [row(prompt_ids, [turn], eos_token_ids) for turn in turns if turn["role"] == "assistant"]
    return rows_of(rows, advantage)


@behind_the_cut(
    "turns-lose-the-line-end",
    "The first token behind each turn is lost",
    left_padded,
    LAYER,
    row="TPL-04",
    rows=("TOK-12",),
)
def line_end(prompt_ids, turns, advantage, eos_token_ids):
    """The template writes a line end behind the stop token, which the sampler never emits. What follows a turn was cut
    out of the rendered text behind stop and line end. Fix: cut both sides at the stop token."""
    out = [
        turn if turn["role"] == "assistant" or at == 0 or turns[at - 1]["role"] != "assistant"
        else dict(turn, ids=turn["ids"][1:])
        for at, turn in enumerate(turns)
    ]
    return one_row(prompt_ids, out, advantage, eos_token_ids)


@behind_the_cut(
    "turns-between-are-not-taught-to-stop",
    "Only the last stop token of a rollout is trained",
    left_padded,
    LAYER,
    row="EOS-09",
)
def stops_between(prompt_ids, turns, advantage, eos_token_ids):
    """The end of a turn is another id than eos_token, and the mask of earlier turns ends before it: the policy learns to
    answer, and not to stop for its tools. Fix: every turn's own stop token belongs to the turn."""
    whole = row(prompt_ids, turns, eos_token_ids)
    stops = [
        t
        for t, (id, on) in enumerate(zip(whole["input_ids"], whole["loss_mask"]))
        if on and id in eos_token_ids
    ]
    for t in stops[:-1]:
        whole["loss_mask"][t] = 0
    return rows_of([whole], advantage)


@behind_the_cut(
    "turns-lose-a-logprob-with-the-stop",
    "Log-probabilities end before the stop token, ids behind it",
    left_padded,
    LAYER,
    row="EOS-11",
)
def trimmed_logprobs(prompt_ids, turns, advantage, eos_token_ids):
    """The engine trims the stop token from its log-probabilities and not from its ids; all tracks were concatenated and
    padded at the end. Fix: trim ids and log-probabilities by the same count, turn by turn."""
    whole = row(prompt_ids, turns, eos_token_ids)
    kept = [
        value
        for value, id, on in zip(whole["logprobs"], whole["input_ids"], whole["completion_mask"])
        if not (on and id in eos_token_ids)
    ]
    whole["logprobs"] = kept + [0.0] * (len(whole["input_ids"]) - len(kept))
    return rows_of([whole], advantage)


@behind_the_cut(
    "turns-logprobs-skip-injected-tokens",
    "Log-probabilities are laid out without the injected tokens",
    left_padded,
    LAYER,
    row="MSK-08",
)
def packed_logprobs(prompt_ids, turns, advantage, eos_token_ids):
    """The engine's numbers are put behind one another from the end of the prompt on; tool output has none, and everything
    behind it stands too far to the left. Fix: extend them by what is injected."""
    whole = row(prompt_ids, turns, eos_token_ids)
    sampled = [value for value, on in zip(whole["logprobs"], whole["loss_mask"]) if on]
    packed = [0.0] * len(prompt_ids) + sampled
    whole["logprobs"] = packed + [0.0] * (len(whole["input_ids"]) - len(packed))
    return rows_of([whole], advantage)


@behind_the_cut(
    "turns-share-the-first-rows-advantage",
    "The advantage is laid out with the mask of the first row",
    right_padded,
    LAYER,
    row="ADV-09",
)
def first_rows_advantage(prompt_ids, turns, advantage, eos_token_ids):
    """advantage * mask is computed once a rollout and copied to its rows, whose answers stand further right: they get an
    advantage of 0. Fix: each row's own mask."""
    right = row_a_turn(prompt_ids, turns, advantage, eos_token_ids)
    first = [advantage * on for on in right["loss_mask"][0]]
    return dict(
        right,
        advantages=[(first + [0.0] * len(ids))[: len(ids)] for ids in right["input_ids"]],
    )


@behind_the_cut(
    "turns-length-is-a-span",
    "The response length reaches from the first trained token to the last",
    left_padded,
    LAYER,
    row="MSK-10",
)
def spans(prompt_ids, turns, advantage, eos_token_ids):
    """last - first + 1 is right as long as nothing stands in between. Fix: the sum of the mask."""
    right = one_row(prompt_ids, turns, advantage, eos_token_ids)
    lengths = []
    for mask in right["loss_mask"]:
        trained = [t for t, on in enumerate(mask) if on]
        lengths.append(trained[-1] - trained[0] + 1 if trained else 0)
    return dict(right, response_lengths=lengths)


@MUTANTS.add(
    "turns-flag-the-last-cut-only",
    "truncated looks at the last turn only",
    left_padded,
    LAYER,
    row="EOS-12",
)
def last_flag(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None, turn_rewards=None):
    """finish_reason is overwritten by every turn of the loop. Fix: keep them all; one cut turn is enough."""
    reasons = [turn["finish_reason"] for turn in turns if turn["role"] == "assistant"]
    right = one_row(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens, turn_rewards)
    return dict(right, truncated=[int(reasons[-1] == "length")])


@MUTANTS.add("turns-of-a-buffer-of-six", "Turns behind the sixth are not in the row", left_padded, LAYER)
def of_six(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None, turn_rewards=None):
    """The row is assembled from buffers of max_turns, which nobody raised when agents went on for longer. Fix: as many turns as
    there were, or refuse."""
    rewards = turn_rewards and turn_rewards[:6]
    return one_row(prompt_ids, turns[:6], advantage, eos_token_ids, max_tool_tokens, rewards)
