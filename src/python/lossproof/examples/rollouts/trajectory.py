"""Rollouts of several turns with tools, for op trajectory: rows of the very ids that were sampled and injected."""

from ..lists import through_stop


def trajectory(prompt_ids, turns, advantage, eos_token_ids):
    """One row for all turns. What the policy sampled is trained, whatever a tool or a user said is not."""
    return rows_of([row(prompt_ids, turns, eos_token_ids)], advantage)


def row_a_turn(prompt_ids, turns, advantage, eos_token_ids):
    """One row a turn of the assistant, behind all that came before it; only that turn is trained there."""
    rows = []
    for at, turn in enumerate(turns):
        if turn["role"] == "assistant":
            before = row(prompt_ids, turns[:at], eos_token_ids)
            own = row(prompt_ids, turns[: at + 1], eos_token_ids)
            start = len(before["input_ids"])
            own["loss_mask"][:start] = [0] * start
            own["truncated"] = int(turn["finish_reason"] == "length")
            rows.append(own)
    return rows_of(rows, advantage)


def without_stops(prompt_ids, turns, advantage, eos_token_ids):
    """One row for all turns, in which no stop token is trained: neither the last nor those between."""
    whole = row(prompt_ids, turns, eos_token_ids)
    whole["loss_mask"] = [
        on * (id not in eos_token_ids) for on, id in zip(whole["loss_mask"], whole["input_ids"])
    ]
    return rows_of([whole], advantage)


def row(prompt_ids, turns, eos_token_ids):
    """The tracks of a row are built beside its ids, turn by turn: nothing is read off an id afterwards."""
    ids, mask, logprobs = list(prompt_ids), [0] * len(prompt_ids), [0.0] * len(prompt_ids)
    for turn in turns:
        said = turn["ids"]
        if turn["role"] == "assistant":
            said = through_stop(said, eos_token_ids)  # what the sampler left behind the stop was never meant
            logprobs += turn["logprobs"][: len(said)]
            mask += [1] * len(said)
        else:
            logprobs += [0.0] * len(said)
            mask += [0] * len(said)
        ids += said
    cut = any(turn["finish_reason"] == "length" for turn in turns)
    return {
        "input_ids": ids,
        "loss_mask": mask,
        "completion_mask": list(mask),
        "logprobs": logprobs,
        "truncated": int(cut),
    }


def rows_of(rows, advantage):
    """The answer; what follows from the loss mask is computed from it."""
    answer = {key: [row[key] for row in rows] for key in ("input_ids", "loss_mask", "completion_mask")}
    answer["logprobs"] = [row["logprobs"] for row in rows]
    answer["truncated"] = [row["truncated"] for row in rows]
    answer["advantages"] = [[advantage * on for on in mask] for mask in answer["loss_mask"]]
    answer["response_lengths"] = [sum(mask) for mask in answer["loss_mask"]]
    return answer


OPS = {"trajectory": (trajectory, {"after_stop": "any"})}
SEMANTICS = {}
