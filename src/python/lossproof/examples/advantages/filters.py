"""Which rollouts train: groups without a signal are dropped and sampled anew (DAPO, arXiv 2503.14476, section 3.2)."""

NEARLY_EQUAL = 1e-6


def filter_rollouts(rewards, group_ids):
    """The rows of groups whose rewards differ. The largest less the smallest: a deviation is not 0 for 0.1 three times."""
    groups = {}
    for reward, group in zip(rewards, group_ids):
        groups.setdefault(group, []).append(reward)
    spread = {group: max(own) - min(own) for group, own in groups.items()}
    return {"kept": [row for row, group in enumerate(group_ids) if spread[group] > NEARLY_EQUAL]}


OPS = {"filter_rollouts": (filter_rollouts, {"interleaved_groups": True})}
SEMANTICS = {
    "filter_equal_rewards": "drop",
    "filter_truncated": "keep",
    "filter_long": "keep",
    "filter_rewards": "none",
}
