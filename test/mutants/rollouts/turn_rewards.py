"""Rewards of single turns on wrong tokens, or counted otherwise than once, for op trajectory."""

from conformance import right_padded
from lossproof.examples import left_padded, stop_excluded
from lossproof.examples.rollouts.trajectory import (
    added_up,
    cut_tools,
    on_its_turn,
    row,
    row_a_turn,
    rows_of,
    trajectory,
    without_stops,
)

from ..registry import MUTANTS

LAYER = "trajectory"


def rewarded(name, title, row_of_bug, rows=()):
    """Registers another way to lay rewards on one row for all turns."""

    def register(place):
        def op(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None, turn_rewards=None):
            whole = row(prompt_ids, cut_tools(turns, max_tool_tokens), eos_token_ids)
            return rows_of([whole], advantage, turn_rewards, place)

        op.__doc__ = place.__doc__
        MUTANTS.add(name, title, left_padded, LAYER, row=row_of_bug, rows=rows)(op)
        return place

    return register


def spans(row):
    """(turn, the tokens of it that are trained) of the row."""
    trained = {}
    for at, (turn, on) in enumerate(zip(row["owners"], row["loss_mask"])):
        if on:
            trained.setdefault(turn, []).append(at)
    return sorted(trained.items())


def laid(row, places):
    """A row of 0 with these (token, reward) added."""
    rewards = [0.0] * len(row["input_ids"])
    for at, reward in places:
        rewards[at] += reward
    return rewards


@rewarded("turn-rewards-keep-the-last", "Only the last turn's reward is kept", "MT-06")
def last_kept(row, turn_rewards):
    """`reward` is overwritten at each step of the loop, and what is left of it is the rollout's. Fix: a list."""
    return laid(row, [(tokens[-1], turn_rewards[turn]) for turn, tokens in spans(row)[-1:]])


@rewarded("turn-rewards-are-all-the-last", "Every turn has the reward of the last one", "MT-06")
def all_the_last(row, turn_rewards):
    """The environment's reward of the final step is written to all of them. Fix: each step's own."""
    trained = spans(row)
    return laid(row, [(tokens[-1], turn_rewards[trained[-1][0]]) for _, tokens in trained])


@rewarded("turn-penalty-on-every-turn", "A penalty for one turn is given to the whole rollout", "MT-06")
def penalty_for_all(row, turn_rewards):
    """A malformed call sets a flag of the rollout, and the penalty is subtracted wherever the flag is looked at: calls that
    were well-formed pay as well. Fix: a flag for each turn."""
    trained = spans(row)
    penalty = min([0.0] + [turn_rewards[turn] for turn, _ in trained])
    return laid(row, [(tokens[-1], max(turn_rewards[turn], 0.0) + penalty) for turn, tokens in trained])


@rewarded("turn-rewards-on-the-turn-before", "Each reward stands on the turn before its own", "ADV-09")
def turn_before(row, turn_rewards):
    """step() answers with the reward of the action that it was given, and the loop, which stores it with the observation,
    reads it as that of the state before. Fix: store a step's reward beside the ids of its action."""
    trained = spans(row)
    ends = [tokens[-1] for _, tokens in trained]
    before = ends[:1] + ends[:-1]
    return laid(row, [(at, turn_rewards[turn]) for at, (turn, _) in zip(before, trained)])


@rewarded("turn-rewards-on-first-tokens", "Each reward stands on the first token of its turn", "VAL-01")
def first_tokens(row, turn_rewards):
    """The index was taken before the turn's ids were appended. Fix: len(ids) - 1 behind them."""
    return laid(row, [(tokens[0], turn_rewards[turn]) for turn, tokens in spans(row)])


@rewarded("turn-rewards-behind-the-stop", "Each reward stands behind the stop token of its turn", "VAL-01")
def behind_the_stop(row, turn_rewards):
    """len(ids) instead of len(ids) - 1: the line end that a template writes there, or the first token of what comes next, and
    of the last turn nothing. Fix: the index of the turn's last token."""
    last = len(row["input_ids"]) - 1
    return laid(row, [(min(tokens[-1] + 1, last), turn_rewards[turn]) for turn, tokens in spans(row)])


@rewarded("turn-rewards-on-tool-output", "Each reward stands on the last token of the tool's answer", "VAL-01")
def on_tool_output(row, turn_rewards):
    """The reward came with the observation, and was put on the last token that the attention mask shows then. It is masked away
    with what the tool said. Fix: the last token that the policy sampled."""
    owners = row["owners"]
    places = []
    for turn, tokens in spans(row):
        at = tokens[-1]
        while at + 1 < len(owners) and not row["loss_mask"][at + 1]:
            at += 1
        places.append((at, turn_rewards[turn]))
    return laid(row, places)


@rewarded("turn-rewards-on-all-tokens", "Each token of a turn has the turn's reward", "MT-06", rows=("KL-12",))
def all_tokens(row, turn_rewards):
    """The reward times the mask of its turn: long turns are paid more for the same. Fix: one token carries it."""
    return laid(row, [(at, turn_rewards[turn]) for turn, tokens in spans(row) for at in tokens])


@MUTANTS.add(
    "turn-rewards-are-given-again-in-later-rows",
    "Every row has the rewards of its whole history",
    right_padded,
    LAYER,
    row="MT-06",
)
def again(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None, turn_rewards=None):
    """One row a turn, and each is given the list of rewards so far: that of the first turn counts as often as there are
    rows. Fix: the reward of a row is that of the turn that is trained there."""
    right = row_a_turn(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens)
    if turn_rewards is not None:
        turns = cut_tools(turns, max_tool_tokens)
        ends = [at for at, turn in enumerate(turns) if turn["role"] == "assistant"]
        rows = [row(prompt_ids, turns[: end + 1], eos_token_ids) for end in ends]
        right["rewards"] = [on_its_turn(each, turn_rewards) for each in rows]
    return right


@MUTANTS.add(
    "turn-rewards-of-the-history-are-added-up",
    "Each row is given the sum of all rewards so far",
    right_padded,
    LAYER,
    row="MT-06",
)
def history_added(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None, turn_rewards=None):
    """The return up to the step was taken for the step's reward. Fix: the difference of the two."""
    right = row_a_turn(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens)
    if turn_rewards is not None:
        spoken = [at for at, turn in enumerate(turns) if turn["role"] == "assistant"]
        right["rewards"] = [
            added_up(dict(loss_mask=mask, input_ids=ids, owners=[0] * len(ids)), [sum(turn_rewards[: at + 1])])
            for at, ids, mask in zip(spoken, right["input_ids"], right["loss_mask"])
        ]
    return right


@MUTANTS.add(
    "turn-rewards-stay-apart",
    "Rewards that are declared to stand on a row's last token stand on those of its turns",
    stop_excluded,
    LAYER,
    row="VAL-01",
)
def apart(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None, turn_rewards=None):
    """The estimator reads one number per row, at its last trained token, and the loop lays rewards on turns: all but the last are
    lost there. Fix: one place for both, and the declaration that goes with it."""
    right = without_stops(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens)
    if turn_rewards is not None:
        whole = row(prompt_ids, cut_tools(turns, max_tool_tokens, "left"), eos_token_ids)
        right["rewards"] = [on_its_turn(dict(whole, loss_mask=right["loss_mask"][0]), turn_rewards)]
    return right


@MUTANTS.add(
    "turn-rewards-on-the-last-token",
    "Rewards that are declared to stand on their turns stand on the last token of the row",
    left_padded,
    LAYER,
    row="VAL-01",
)
def at_the_end(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens=None, turn_rewards=None):
    """The list of rewards is added up at the end of the rollout, as where it has only one. Fix: keep them apart."""
    right = trajectory(prompt_ids, turns, advantage, eos_token_ids, max_tool_tokens)
    if turn_rewards is not None:
        whole = row(prompt_ids, cut_tools(turns, max_tool_tokens), eos_token_ids)
        right["rewards"] = [added_up(whole, turn_rewards)]
    return right
