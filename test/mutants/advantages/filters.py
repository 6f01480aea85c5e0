"""Wrong filters of rollouts: rows in place of groups, a sign, indices that moved, statistics of other groups."""

import math

from lossproof.examples import left_padded
from lossproof.examples.advantages import filters

from ..registry import MUTANTS

OP = "filter_rollouts"


def grouped(rewards, group_ids):
    groups = {}
    for row, group in enumerate(group_ids):
        groups.setdefault(group, []).append(row)
    return [(rows, [rewards[row] for row in rows]) for rows in groups.values()]


def std(values):
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


def kept_where(rewards, group_ids, stays):
    kept = {row for rows, own in grouped(rewards, group_ids) if stays(own) for row in rows}
    return {"kept": sorted(kept)}


@MUTANTS.add("filter-rows-not-groups", "A row goes if all others of its group are equal", left_padded, OP, row="VAL-12")
def filter_rows(rewards, group_ids):
    """The deviation of a leave-one-out baseline is one of the other rows. Of one wrong answer among seven right ones it
    drops the wrong one, and what is left has no signal. Fix: decide by the whole group."""
    kept = []
    for rows, own in grouped(rewards, group_ids):
        for at, row in enumerate(rows):
            others = own[:at] + own[at + 1 :]
            if max(others) > min(others):
                kept.append(row)
    return {"kept": sorted(kept)}


@MUTANTS.add("filter-rows-at-the-mean", "A row at the mean of its group is dropped, the others stay", left_padded, OP, row="VAL-12")
def filter_mean_rows(rewards, group_ids):
    """`advantages != 0` as the mask of rows: a middling answer of a good group goes as well. Fix: any() over the
    group."""
    kept = [row for rows, own in grouped(rewards, group_ids) for row, r in zip(rows, own) if r != sum(own) / len(own)]
    return {"kept": sorted(kept)}


@MUTANTS.add("filter-keeps-equal-groups", "Only groups without a spread are kept", left_padded, OP, row="VAL-12")
def filter_sign(rewards, group_ids):
    """The mask of what is to be dropped, `std < 1e-6`, used as the mask of what is kept. Fix: not."""
    return kept_where(rewards, group_ids, lambda own: std(own) < 1e-6)


@MUTANTS.add("filter-wide-groups-go", "The deviation is compared the wrong way round", left_padded, OP, row="VAL-12")
def filter_wide(rewards, group_ids):
    """`1e-6 < std < 0.5` from a filter of outliers: the groups that say most are dropped. Fix: std > 1e-6."""
    return kept_where(rewards, group_ids, lambda own: 1e-6 < std(own) < 0.5)


@MUTANTS.add("filter-removes-as-it-goes", "Indices move after a removal", left_padded, OP, row="VAL-12")
def filter_removal(rewards, group_ids):
    """`del rows[i]` within a loop over the old indices: after the first removal each index names another row. Fix: build
    a new list."""
    dropped = set(range(len(rewards))) - set(filters.filter_rollouts(rewards, group_ids)["kept"])
    kept = list(range(len(rewards)))
    for row in sorted(dropped):
        if row < len(kept):
            del kept[row]
    return {"kept": kept}


@MUTANTS.add("filter-mean-of-zero", "A group with a mean of 0 is dropped", left_padded, OP, row="VAL-12")
def filter_zero_mean(rewards, group_ids):
    """Written for rewards of 0 and 1, where a mean of 0 or 1 says that all are equal; the rewards are now -1 and 1. Fix:
    compare the largest with the smallest."""
    return kept_where(rewards, group_ids, lambda own: max(own) > min(own) and sum(own) != 0)


@MUTANTS.add("filter-mean-of-zero-or-one", "All right or all wrong is read off the mean alone", left_padded, OP, row="VAL-12")
def filter_binary(rewards, group_ids):
    """`0 < mean < 1`: equal rewards of 0.5 stay, and negative ones with a spread go. Fix: compare the largest with the
    smallest."""
    return kept_where(rewards, group_ids, lambda own: 0 < sum(own) / len(own) < 1)


@MUTANTS.add("filter-spread-of-the-batch", "A group is compared with the spread of the batch", left_padded, OP, row="VAL-12")
def filter_batch(rewards, group_ids):
    """A threshold of a tenth of the batch's deviation: beside wide groups a narrow one goes, and alone it stays. Fix: a
    fixed threshold."""
    return kept_where(rewards, group_ids, lambda own: max(own) > min(own) and std(own) > 0.4 * std(rewards))


@MUTANTS.add("filter-nan-for-all", "One NaN drops every group", left_padded, OP, row="VAL-12")
def filter_nan(rewards, group_ids):
    """Rewards are scaled to 0 and 1 over the batch first: with one NaN among them all are NaN, and no NaN is above
    another. Fix: compare within the group."""
    if any(math.isnan(reward) for reward in rewards):
        return {"kept": []}
    return filters.filter_rollouts(rewards, group_ids)


@MUTANTS.add("filter-last-group-lost", "The last group is never closed", left_padded, OP, row="VAL-12")
def filter_last(rewards, group_ids):
    """A loop over rows that judges a group when the next one begins: for the last there is no next. Fix: judge what is
    left behind the loop."""
    last = group_ids[-1]
    kept = filters.filter_rollouts(rewards, group_ids)["kept"]
    return {"kept": [row for row in kept if group_ids[row] != last or len(set(group_ids)) == 1]}


@MUTANTS.add("filter-fills-up", "What was dropped is filled up with rows that are there", left_padded, OP, row="VAL-12")
def filter_fills(rewards, group_ids):
    """The batch must have its size, so that the first kept rows are taken again: they count twice. Fix: sample anew."""
    kept = filters.filter_rollouts(rewards, group_ids)["kept"]
    missing = len(rewards) - len(kept)
    return {"kept": (kept + kept[:missing]) if kept else kept}


@MUTANTS.add("filter-out-of-order", "Kept rows come group by group, the best first", left_padded, OP, row="VAL-12")
def filter_order(rewards, group_ids):
    """Sorted by reward to take the best, and never sorted back: what comes next takes so many rows in a row for a group.
    Fix: sort the indices."""
    kept = filters.filter_rollouts(rewards, group_ids)["kept"]
    return {"kept": sorted(kept, key=lambda row: -rewards[row])}


@MUTANTS.add("filter-deviation-above-zero", "Rewards of 0.1 count as different", left_padded, OP, row="VAL-12")
def filter_rounding(rewards, group_ids):
    """`std > 0`: of three rewards of 0.1 it is 1e-17. Fix: a threshold, or the largest less the smallest."""
    return kept_where(rewards, group_ids, lambda own: std(own) > 0)


@MUTANTS.add("filter-masks-the-wrong-row", "The mask of truncated rows is one of the batch before", left_padded, OP, row="VAL-12")
def filter_masks(rewards, group_ids, truncated):
    """The mask of rows that were cut off is computed before groups are dropped, and laid over the rows that are left.
    Fix: index both with the kept rows."""
    kept = filters.filter_rollouts(rewards, group_ids)["kept"]
    return {"kept": kept, "trained": [1 - cut for cut in truncated[: len(kept)]]}
