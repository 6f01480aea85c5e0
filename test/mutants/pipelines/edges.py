"""Wrong hand-overs of many segments, or with the losses in another order."""

from lossproof.examples import left_padded
from lossproof.examples.pipelines import replay

from ..registry import MUTANTS


@MUTANTS.add("contract-reads-eight-segments", "Of a hand-over eight segments are trained", left_padded, "contract", row="TRN-04")
def contract_window(order, segments, enabled):
    """The learner's batch size cuts the list, and nothing says so. Fix: an error, or further micro-batches."""
    return replay.contract(order, segments[:8], enabled)


@MUTANTS.add("contract-losses-by-their-place", "Losses are told apart by their place in the list", left_padded, "contract", row="ZL-01")
def contract_by_place(order, segments, enabled):
    """`for name, batch in zip(LOSSES, batches)`: with the list of the configuration in another order, one loss is told as another,
    or not at all. Fix: a dict."""
    right = replay.contract(order, segments, enabled)
    if list(enabled) == [name for name in replay.LOSSES if name in enabled]:
        return right
    return {field: {name: value for name, value in part.items() if name == enabled[0]} for field, part in right.items()}


@MUTANTS.add("contract-shifts-rewards-with-an-iteration", "With four elements, rewards are the next segment's", left_padded, "contract", row="ADV-14")
def contract_shifted(order, segments, enabled):
    """The element more is skipped by an index that the rewards use, too. Fix: named fields."""
    rewards = [segment["reward"] for segment in segments]
    by = int(len(order) == 4)
    moved = [dict(segment, reward=rewards[(at + by) % len(rewards)]) for at, segment in enumerate(segments)]
    return replay.contract(order, moved, enabled)


@MUTANTS.add("contract-swaps-reported-losses", "Losses are reported in the order of the list", left_padded, "contract", row="ZL-04")
def contract_swapped(order, segments, enabled):
    """dict(zip(enabled, sorted values)): the value of one stands under the name of another. Fix: a dict from the beginning."""
    right = replay.contract(order, segments, enabled)
    values = [right["losses"][name] for name in sorted(enabled)]
    return dict(right, losses=dict(zip(enabled, values)))
