"""Which rows and columns of a table of logits a call asks for."""

import torch

SHOWN = 12  # ids of a row in a message


def taken(logits, rows, used, asked):
    """(b, t, V): the logits (B, T, V) of the rows asked for (b, t). Without `rows` (B, T), they must be all of them."""
    if asked.dim() != 2:
        raise ValueError("a Table is asked for input_ids (B, T), not of shape %s" % (tuple(asked.shape),))
    if rows is None:
        if asked.shape != logits.shape[:2]:
            raise ValueError(
                "the Table has logits of %d rows of %d tokens, and the trainer asks for %d of %d: give input_ids=, by "
                "which rows are found, or a list of logits, one a call" % (*logits.shape[:2], *asked.shape)
            )
        return logits
    rows = torch.as_tensor(rows)
    width, all_columns = asked.size(1), rows.size(1)
    # Whole rows, or without their last columns, or without their first: what trainers crop; then anything between.
    spare = all_columns - width
    offsets = dict.fromkeys([0, spare, *range(spare + 1)]) if spare >= 0 else ()
    for offset in offsets:
        found = _found(rows[:, offset : offset + width], used, asked)
        if found is not None:
            for row in found:
                used[row] += 1
            return logits[found, offset : offset + width]
    raise ValueError(
        "the Table has no logits for row %s, which is none of its input_ids: the trainer changed the ids, or pads them "
        "otherwise; a function of input_ids gives logits to any row" % asked[_stranger(rows, asked)].tolist()[:SHOWN]
    )


def _found(rows, used, asked):
    """The row of the table for each that is asked; of equal ones that which was asked for least. None where one is missing."""
    if asked.shape == rows.shape and torch.equal(rows, asked.to(rows)):
        return list(range(len(rows)))
    found = []
    for row in asked:
        same = [at for at in range(len(rows)) if torch.equal(rows[at], row.to(rows))]
        if not same:
            return None
        found.append(min(same, key=lambda at: used[at] + found.count(at)))
    return found


def _stranger(rows, asked):
    """The first row that no table row holds, in any column."""
    width = asked.size(1)
    for at, row in enumerate(asked):
        if not any(torch.equal(own[i : i + width], row.to(own)) for own in rows for i in range(rows.size(1) - width + 1)):
            return at
    return 0
