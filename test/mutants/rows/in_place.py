"""Right batches of examples that are not what they were."""

from ..in_place import written


def padded(args):
    longest = max(map(len, args["input_ids"])) + 1
    for row in args["input_ids"]:
        row.extend([args["pad_token_id"]] * (longest - len(row)))


written(
    "collate",
    "examples-padded-in-place",
    "The collator pads the examples themselves",
    "ids += [pad] * n: the data set holds padded rows from the second epoch on, and their padding is trained. Fix: ids + "
    "[pad] * n.",
    padded,
    rows=("MSK-06",),
)
