"""Labels through a dataset preparation that was written for none: rows come with a column of labels that its version may
drop. What was not kept cannot be judged, and is nobody's fault: the case is refused, with the reason."""

from lossproof import Reject


def kept_labels(rows, maker):
    """`rows` as `maker` prepared them from rows with labels; a Reject where it dropped that column."""
    rows = list(rows)
    if any("labels" not in row for row in rows):
        raise Reject(
            "%s selects columns in its dataset preparation, labels not among them: they are made in its collator, and "
            "those of an example that is given with labels are lost" % maker
        )
    return rows


def keeps_labels(collator):
    """Whether it takes the labels that examples have, and does not make its own of their ids."""
    return collator([{"input_ids": [0, 1], "labels": [-100, 1]}])["labels"].tolist() == [[-100, 1]]


def labels_of(row, collator):
    """Of one prepared conversation, as a list: its own column, or what the collator makes of the row, alone in its batch."""
    if "labels" in row:
        return row["labels"]
    return [int(label) for label in collator([columns_of(row)])["labels"][0]]


def columns_of(row):
    """What a collator takes of a prepared row: text it would pad."""
    if len(row.get("completion_mask", row["input_ids"])) > len(row["input_ids"]):
        # A template whose generation prompt is longer than the turn that it opens; the training stops there, and says so.
        raise Reject("the prompt of this row is longer than the row, and TRL's collator raises an IndexError")
    return {name: value for name, value in row.items() if isinstance(value, list) and name != "messages"}
