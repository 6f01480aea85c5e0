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
