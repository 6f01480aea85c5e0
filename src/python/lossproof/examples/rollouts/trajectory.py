"""Rollouts of several turns with tools, for op trajectory: rows of the very ids that were sampled and injected."""

from ..lists import through_stop

CAN = {"after_stop": "any", "max_tool_tokens": True, "turn_rewards": True}


def trajectory(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None, turn_rewards=None):
    """One row for all turns. What the policy sampled is trained, whatever a tool or a user said is not."""
    turns = cut_tools(turns, max_tool_tokens)
    return rows_of([row(prompt_ids, turns, eos_token_ids)], advantage, turn_rewards)


def row_a_turn(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None, turn_rewards=None):
    """One row a turn of the assistant, behind all that came before it; only that turn is trained there."""
    turns = cut_tools(turns, max_tool_tokens)
    rows = []
    for at, turn in enumerate(turns):
        if turn["role"] == "assistant":
            before = row(prompt_ids, turns[:at], eos_token_ids)
            own = row(prompt_ids, turns[: at + 1], eos_token_ids)
            start = len(before["input_ids"])
            own["loss_mask"][:start] = [0] * start
            own["truncated"] = int(turn["finish_reason"] == "length")
            rows.append(own)
    return rows_of(rows, advantage, turn_rewards)


def without_stops(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None, turn_rewards=None):
    """One row for all turns, in which no stop token is trained: neither the last nor those between. Of what a tool said the
    end stays, and all rewards stand together."""
    whole = row(prompt_ids, cut_tools(turns, max_tool_tokens, "left"), eos_token_ids)
    whole["loss_mask"] = [
        on * (id not in eos_token_ids) for on, id in zip(whole["loss_mask"], whole["input_ids"])
    ]
    return rows_of([whole], advantage, turn_rewards, added_up)


def cut_tools(turns, limit, side="right"):
    """The turns with at most `limit` ids of each that a tool said: they are lost on this side. None: no limit."""
    out = []
    for turn in turns:
        ids = turn["ids"]
        if limit is not None and turn["role"] == "tool" and len(ids) > limit:
            turn = dict(turn, ids=ids[:limit] if side == "right" else ids[len(ids) - limit :])
        out.append(turn)
    return out


def row(prompt_ids, turns, eos_token_ids):
    """The tracks of a row are built beside its ids, turn by turn: nothing is read off an id afterwards."""
    ids, mask, logprobs = list(prompt_ids), [0] * len(prompt_ids), [0.0] * len(prompt_ids)
    owners = [None] * len(prompt_ids)  # the number of the turn that each token belongs to
    for at, turn in enumerate(turns):
        said = turn["ids"]
        if turn["role"] == "assistant":
            said = through_stop(said, eos_token_ids)  # what the sampler left behind the stop was never meant
            logprobs += turn["logprobs"][: len(said)]
            mask += [1] * len(said)
        else:
            logprobs += [0.0] * len(said)
            mask += [0] * len(said)
        ids += said
        owners += [at] * len(said)
    cut = any(turn["finish_reason"] == "length" for turn in turns)
    return {
        "input_ids": ids,
        "loss_mask": mask,
        "completion_mask": list(mask),
        "logprobs": logprobs,
        "truncated": int(cut),
        "owners": owners,
    }


def on_its_turn(row, turn_rewards):
    """Each turn's reward on the last token of it that this row trains: a turn of the history has its reward in its own row."""
    last = {turn: at for at, (turn, on) in enumerate(zip(row["owners"], row["loss_mask"])) if on}
    rewards = [0.0] * len(row["input_ids"])
    for turn, at in last.items():
        rewards[at] = turn_rewards[turn]
    return rewards


def added_up(row, turn_rewards):
    """The rewards of all turns that this row trains on the last token that it trains."""
    apart = on_its_turn(row, turn_rewards)
    rewards = [0.0] * len(apart)
    trained = [at for at, on in enumerate(row["loss_mask"]) if on]
    for at in trained[-1:]:
        rewards[at] = sum(apart)
    return rewards


def rows_of(rows, advantage, turn_rewards=None, placed=on_its_turn):
    """The answer; what follows from the loss mask is computed from it."""
    answer = {key: [row[key] for row in rows] for key in ("input_ids", "loss_mask", "completion_mask")}
    answer["logprobs"] = [row["logprobs"] for row in rows]
    answer["truncated"] = [row["truncated"] for row in rows]
    answer["advantages"] = [[advantage * on for on in mask] for mask in answer["loss_mask"]]
    answer["response_lengths"] = [sum(mask) for mask in answer["loss_mask"]]
    if turn_rewards is not None:
        answer["rewards"] = [placed(row, turn_rewards) for row in rows]
    return answer


OPS = {"trajectory": (trajectory, CAN)}
# What without_stops does.
LEFT_AND_ADDED_UP = {"tool_truncation_side": "left", "turn_reward_placement": "row"}
SEMANTICS = {"tool_truncation_side": "right", "turn_reward_placement": "turn"}
