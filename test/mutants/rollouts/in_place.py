"""Right masks of batches that are not what they were."""

from ..in_place import written


def stripped(args):
    for row in args["completion_ids"]:
        while row and row[-1] in args["eos_token_ids"]:
            row.pop()
        row.append(args["pad_token_id"])


written(
    "mask",
    "stops-replaced-in-place",
    "Stop tokens are cut off the completions themselves",
    "ids.pop() while the last one stops: rewards and logs behind it see completions that never ended. Fix: a copy.",
    stripped,
    rows=("EOS-01",),
)
