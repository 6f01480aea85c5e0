"""Advantages that are wrong only where two sizes agree: where they differ, the shapes do, and the right branch is taken."""

from types import SimpleNamespace

from lossproof.examples import left_padded
from lossproof.examples.left_padded import advantage, members

from ..registry import MUTANTS

GROUP_SIZE = 4
FIXED = SimpleNamespace(
    __name__="%s.fixed" % __name__,
    OPS=dict(left_padded.OPS, advantages=(left_padded.advantages, {"group_size": GROUP_SIZE})),
    DECLARED=left_padded.DECLARED,
)


def across(rewards, group_ids):
    """(B,) as (G, groups) instead of (groups, G)."""
    groups = [members(rewards, group_ids, g) for g in sorted(set(group_ids))]
    if len(groups) != len(groups[0]) or group_ids != sorted(group_ids):
        return left_padded.advantages(rewards, group_ids)
    turned = list(zip(*groups))
    flat = [advantage(reward, list(turned[t])) for group in groups for t, reward in enumerate(group)]
    return {"advantages": flat}


across.__doc__ = """rewards.view(groups, G) where groups is the number of rows per group, and a check of the shape that passes
where the two are equal: rewards are compared across prompts. Fix: view(-1, G), and index by group."""
MUTANTS.add(
    "groups-across-in-a-square-batch",
    "Rewards are compared across groups where there are as many groups as rows in one",
    left_padded,
    "advantages",
    rows=("ADV-04",),
)(across)
MUTANTS.add(
    "fixed-groups-across-in-a-square-batch",
    "Rewards are compared across groups of four where there are four groups",
    FIXED,
    "advantages",
    rows=("ADV-04",),
)(across)
