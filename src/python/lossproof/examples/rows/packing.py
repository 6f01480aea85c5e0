"""Several examples in one row, for op pack."""

from ..lists import pad_right

IGNORED = -100


def pack(input_ids, labels, max_length, pad_token_id):
    """Best-fit decreasing: the longest example first, each into the fullest row that still has room for it. An example that
    is longer than a row is several."""
    input_ids = pieces_of(input_ids, max_length)
    labels = pieces_of(labels, max_length)
    bins = best_fit([len(ids) for ids in input_ids], max_length)
    return laid_out(bins, input_ids, labels, pad_token_id)


def pieces_of(rows, most):
    return [row[at : at + most] for row in rows for at in range(0, max(1, len(row)), most)]


def best_fit(lengths, max_length):
    """[[example, ...], ...]: which examples share a row, in order."""
    bins, room = [], []
    for example in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        fitting = [at for at, left in enumerate(room) if left >= lengths[example]]
        if fitting:
            fullest = min(fitting, key=lambda at: room[at])
            bins[fullest].append(example)
            room[fullest] -= lengths[example]
        else:
            bins.append([example])
            room.append(max_length - lengths[example])
    return bins


def laid_out(bins, input_ids, labels, pad_token_id):
    """The packed rows and all that tells their examples apart. The first token of an example is predicted by the last
    one of its neighbour, so it is not trained."""
    ids, _ = pad_right([[id for at in examples for id in input_ids[at]] for examples in bins], pad_token_id)
    targets, _ = pad_right(
        [[label for at in examples for label in [IGNORED] + labels[at][1:]] for examples in bins], IGNORED
    )
    positions, _ = pad_right([[t for at in examples for t in range(len(input_ids[at]))] for examples in bins], 0)
    segments, _ = pad_right(
        [[n for n, at in enumerate(examples, 1) for _ in input_ids[at]] for examples in bins], 0
    )
    lengths = [[len(input_ids[at]) for at in examples] for examples in bins]
    return {
        "input_ids": ids,
        "labels": targets,
        "position_ids": positions,
        "segment_ids": segments,
        "segment_lengths": lengths,
        "unpacked": unpack(ids, lengths),
    }


def unpack(rows, lengths):
    """The examples again, in packed order. By the lengths that were recorded: padding is known by no id."""
    examples = []
    for row, sizes in zip(rows, lengths):
        start = 0
        for size in sizes:
            examples.append(row[start : start + size])
            start += size
    return examples


OPS = {"pack": (pack, {"overlong": "split"})}
SEMANTICS = {}
