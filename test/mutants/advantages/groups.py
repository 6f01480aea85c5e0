"""Wrong advantages: of which group, centred and scaled by what, and in which order they are answered."""

import math
import struct

from conformance import data_parallel
from conformance.data_parallel import advantages_of, by_group, configured
from lossproof.examples import left_padded
from lossproof.examples.left_padded import members

from ..registry import MUTANTS


def normalised(formula):
    """An advantages op of `formula(reward, its group, all rewards)`."""

    def advantages(rewards, group_ids):
        return {
            "advantages": [
                formula(r, members(rewards, group_ids, g), rewards) for r, g in zip(rewards, group_ids)
            ]
        }

    advantages.__doc__ = formula.__doc__
    return advantages


def deviation(values, ddof=1):
    mean = sum(values) / len(values)
    return math.sqrt(sum((v - mean) ** 2 for v in values) / max(len(values) - ddof, 1))


def over_batch(reward, group, rewards):
    """Mean and deviation of the whole batch: easy prompts are rewarded, hard ones punished."""
    return left_padded.advantage(reward, rewards)


def other_ddof(reward, group, rewards):
    """torch.std and numpy.std differ in ddof; declared is one, computed the other."""
    return (reward - sum(group) / len(group)) / (deviation(group, 0) + left_padded.EPSILON)


def not_centred(reward, group, rewards):
    """The group mean is not subtracted: every answer with a positive reward is reinforced."""
    return reward / (deviation(group) + left_padded.EPSILON)


def exploding(reward, group, rewards):
    """No epsilon: 0/0 is NaN, and one lucky group ends the training."""
    std = deviation(group)
    return (reward - sum(group) / len(group)) / std if std else float("nan")


def small_is_none(reward, group, rewards):
    """`if std < 0.1: skip` was meant for groups without any spread, and skips every prompt that is almost solved."""
    return 0.0 if deviation(group) < 0.1 else left_padded.advantage(reward, group)


def leave_one_out(reward, group, rewards):
    """The baseline of RLOO under the name of the group mean: every step is G / (G - 1) times the configured one."""
    return left_padded.advantage(reward, group) * len(group) / max(len(group) - 1, 1)


for name, title, formula, rows in (
    (
        "advantages-small-spread-is-none",
        "Groups that differ by little count as equal",
        small_is_none,
        ["ADV-05"],
    ),
    (
        "advantages-leave-one-out",
        "The baseline leaves the row itself out, declared is the mean",
        leave_one_out,
        [],
    ),
    (
        "advantages-over-the-batch",
        "Advantages are normalised over the batch, declared over the group",
        over_batch,
        ["ADV-03", "ADV-02"],
    ),
    ("advantages-other-ddof", "The standard deviation has another ddof than declared", other_ddof, []),
    ("advantages-not-centred", "Rewards are scaled but not centred", not_centred, []),
    ("advantages-nan-without-spread", "Equal rewards give NaN", exploding, ["ADV-05"]),
):
    MUTANTS.add(name, title, left_padded, "advantages", row="".join(rows[:1]), rows=rows[1:])(
        normalised(formula)
    )


@MUTANTS.add(
    "advantages-repeat-for-interleave",
    "Rows are grouped as by repeat, but lie as by repeat_interleave",
    left_padded,
    row="ADV-04",
)
def advantages(rewards, group_ids):
    """view(-1, G) over rows that are not in that order: every group is made of other prompts' answers."""
    groups = len(set(group_ids))
    return left_padded.advantages(rewards, [row % groups for row in range(len(rewards))])


@MUTANTS.add(
    "advantages-running-mean", "The baseline is the mean of the rewards so far", left_padded, "advantages"
)
def advantages_running(rewards, group_ids):
    """The group's statistics are updated in the loop that already uses them: the first answer of every prompt has
    advantage 0, and the order of the rows decides about the others. Fix: statistics first, advantages second."""
    out = []
    for row, (reward, group) in enumerate(zip(rewards, group_ids)):
        seen = members(rewards[: row + 1], group_ids[: row + 1], group)
        out.append(left_padded.advantage(reward, seen))
    return {"advantages": out}


def add(base, op, name, title, story, wrong, row="", **more):
    wrong.__doc__ = story
    MUTANTS.add(name, title, base, op, row=row, **more)(wrong)


LAST = {"spread": 1.0}


def running_spread(rewards, group_ids):
    """Advantages, scaled by the spread of this batch and of those before it."""
    answer = left_padded.advantages(rewards, group_ids)["advantages"]
    LAST["spread"] = 0.5 * LAST["spread"] + 0.5 * (max(rewards) - min(rewards))
    return {"advantages": [value / max(LAST["spread"], 0.125) for value in answer]}


add(
    left_padded,
    "advantages",
    "advantages-of-a-running-spread",
    "Advantages are divided by a running spread of the rewards",
    "A reward normaliser with a memory: the same batch is worth less behind a batch of larger rewards.",
    running_spread,
)

RIGHT_ADVANTAGES = advantages_of()


def of_ranks(op, name, title, story, wrong, row="", **more):
    wrong.__doc__ = story
    MUTANTS.add(name, title, data_parallel, op, row=row, **more)(wrong)


def by_prompt(rewards, group_ids, prompt_ids, ranks):
    keys = prompt_ids or group_ids
    return [[r for r, k in zip(rewards, keys) if k == own] for own in keys]


of_ranks(
    "advantages",
    "grouped-by-prompt",
    "Groups are found by their prompt, and two groups may have the same",
    "A dictionary keyed by the prompt: a prompt that is in the batch twice becomes one group.",
    advantages_of(groups=by_prompt),
    "ADV-12",
)


def group_after_group(rewards, group_ids, prompt_ids=None, ranks=None, settings=None):
    answer = RIGHT_ADVANTAGES(rewards, group_ids, prompt_ids, ranks, settings)["advantages"]
    order = sorted(range(len(rewards)), key=lambda row: group_ids[row])
    return {"advantages": [answer[row] for row in order]}


of_ranks(
    "advantages",
    "answered-group-after-group",
    "Advantages come back group after group, whatever the order of the rows was",
    "A loop over groups extends one list: right while the rows of a group stand together.",
    group_after_group,
    "ADV-04",
)


def on_the_rank(rewards, group_ids, prompt_ids, ranks):
    groups = by_group(rewards, group_ids, prompt_ids, ranks)
    for rank in ranks:
        for row in rank:
            groups[row] = [rewards[b] for b in rank if group_ids[b] == group_ids[row]]
    return groups


of_ranks(
    "advantages",
    "statistics-of-one-rank",
    "A row is compared with the rows of its group on its own rank only",
    "Rewards are normalised after sharding, before they are gathered.",
    advantages_of(groups=on_the_rank),
    "ADV-13",
)


def centred_always(reward, group):
    if len(group) == 1:
        return 0.0
    return data_parallel.advantage(reward, group)


of_ranks(
    "advantages",
    "one-sample-is-its-own-baseline",
    "With one completion per prompt, every advantage is zero",
    "reward - group mean, for a group that is the reward itself: the run trains nothing and logs no error.",
    advantages_of(advantage=centred_always),
    "ADV-14",
)


def dead_scale(rewards, group_ids, prompt_ids=None, ranks=None, settings=None):
    configured(settings, data_parallel.Scale)
    return RIGHT_ADVANTAGES(rewards, group_ids, prompt_ids, ranks)


def swallowed_scale(rewards, group_ids, prompt_ids=None, ranks=None, settings=None):
    kept = {k: v for k, v in (settings or {}).items() if k == "reward_scale"}
    return RIGHT_ADVANTAGES(rewards, group_ids, prompt_ids, ranks, kept)


of_ranks(
    "advantages",
    "reward-scale-is-not-read",
    "The reward scale of the configuration is never used",
    "It was applied to a copy that is only logged.",
    dead_scale,
)
of_ranks(
    "advantages",
    "misspelt-scale-is-swallowed",
    "A setting of the advantages that does not exist is ignored",
    "The keyword arguments are filtered by what the function knows.",
    swallowed_scale,
)


@MUTANTS.add(
    "advantages-of-the-first-eight",
    "A group larger than eight is compared with its first eight rows",
    left_padded,
    "advantages",
    row="ADV-03",
)
def first_eight(rewards, group_ids):
    """num_generations was 8 when the buffer was made, and scatter drops what is beyond it. Fix: a buffer of the group."""
    groups = {g: [r for r, other in zip(rewards, group_ids) if other == g] for g in group_ids}
    kept = {g: left_padded.advantages(group[:8], [g] * len(group[:8]))["advantages"] for g, group in groups.items()}
    seen, out = {}, []
    for reward, g in zip(rewards, group_ids):
        place = seen[g] = seen.get(g, -1) + 1
        mean = sum(groups[g][:8]) / len(groups[g][:8])
        spread = deviation(groups[g][:8])
        out.append(kept[g][place] if place < 8 else (reward - mean) / (spread + 1e-4))
    return {"advantages": out}


@MUTANTS.add(
    "advantages-of-the-first-sixty-four",
    "A group larger than 64 is compared with its first 64 rows",
    left_padded,
    "advantages",
    row="ADV-03",
)
def first_sixty_four(rewards, group_ids):
    """As advantages-of-the-first-eight, in the size of a wavefront. Fix: a reduction over all of the group."""
    groups = {g: [r for r, other in zip(rewards, group_ids) if other == g][:64] for g in group_ids}
    return {
        "advantages": [
            (r - sum(groups[g]) / len(groups[g])) / (deviation(groups[g]) + 1e-4) for r, g in zip(rewards, group_ids)
        ]
    }


def single(value):
    """As float32 holds it."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


@MUTANTS.add("advantages-variance-in-one-pass", "The variance is the mean square less the squared mean", left_padded, "advantages")
@normalised
def one_pass(reward, group, rewards):
    """Two sums in single precision, in one pass over the rewards: far from 0 their difference is rounding noise, at times below
    0. Fix: the mean first."""
    total = squares = 0.0
    for r in group:
        total, squares = single(total + r), single(squares + single(r * r))
    mean = single(total / len(group))
    variance = max(single(single(squares / len(group)) - single(mean * mean)), 0.0)
    return (reward - mean) / (math.sqrt(variance * len(group) / max(len(group) - 1, 1)) + 1e-4)


@MUTANTS.add(
    "advantages-of-groups-of-one-size",
    "The size of a group is taken for the rows of the batch divided by its groups",
    left_padded,
    "advantages",
    row="ADV-03",
)
def one_size(rewards, group_ids):
    """Sums of groups divided by rows / groups: rollouts that were filtered out or lost leave none of that size. Fix: count each
    group."""
    size = len(rewards) / len(set(group_ids))
    groups = {g: members(rewards, group_ids, g) for g in group_ids}
    means = {g: sum(group) / size for g, group in groups.items()}
    return {
        "advantages": [(r - means[g]) / (deviation(groups[g]) + 1e-4) for r, g in zip(rewards, group_ids)]
    }


@MUTANTS.add(
    "advantages-clipped-at-three",
    "Advantages are cut at three deviations",
    left_padded,
    "advantages",
    row="ADV-15",
)
@normalised
def clipped_at_three(reward, group, rewards):
    """A guard against outliers came along from the critic: the one success of sixteen, 3.75 deviations away, counts less than it
    is worth. Fix: clip where it is configured, and say so."""
    advantage = (reward - sum(group) / len(group)) / (deviation(group) + 1e-4)
    return max(-3.0, min(3.0, advantage))
