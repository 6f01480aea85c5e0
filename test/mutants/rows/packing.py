"""Wrong packing: examples that run into each other, get lost, or are taken apart elsewhere than they were joined."""

from lossproof.examples import left_padded
from lossproof.examples.rows import packing

from ..registry import MUTANTS

IGNORED = -100


def packed(name, title, story, **rows):
    """Decorator: made of the right packing, by f(answer, input_ids, labels, pad_token_id)."""

    def register(change):
        def pack(input_ids, labels, max_length, pad_token_id):
            input_ids, labels = (packing.pieces_of(rows, max_length) for rows in (input_ids, labels))
            answer = packing.pack(input_ids, labels, max_length, pad_token_id)
            return dict(answer, **change(answer, input_ids, labels, pad_token_id))

        pack.__doc__ = story
        MUTANTS.add(name, title, left_padded, **rows)(pack)
        return change

    return register


@packed(
    "packed-positions-run-on",
    "position_ids of a packed row count from its beginning",
    "arange over the row: the second example of a row begins at a position where the model never saw a beginning, and "
    "kernels that read the boundaries off the positions see one long text. Fix: restart at 0 with every example.",
    row="PCK-02",
)
def positions(answer, input_ids, labels, pad):
    return {"position_ids": [list(range(len(row))) for row in answer["input_ids"]]}


@packed(
    "packed-first-tokens-are-trained",
    "The first token of an example is trained as what follows the one before",
    "Labels are copied whole. Alone, the first token of a row has nothing before it and drops out in the shift; in a "
    "packed row it is predicted from another example. Fix: -100 on it.",
    row="PCK-03",
)
def first_tokens(answer, input_ids, labels, pad):
    left = [(ids, row) for ids, row in zip(input_ids, labels)]
    out = [list(row) for row in answer["labels"]]
    for b, sizes in enumerate(answer["segment_lengths"]):
        start = 0
        for size in sizes:
            ids = answer["input_ids"][b][start : start + size]
            tail = out[b][start + 1 : start + size]
            at = next(i for i, (one, row) in enumerate(left) if one == ids and row[1:] == tail)
            out[b][start] = left.pop(at)[1][0]
            start += size
    return {"labels": out}


@packed(
    "packed-padding-is-trained",
    "The padding of a packed row is labelled with itself",
    "Packed rows are thought to be full, and labels are the ids where nothing else was said. Only the last row of a "
    "data set shows it. Fix: -100 behind the last example.",
    any_ids=True,
)
def padding(answer, input_ids, labels, pad):
    return {
        "labels": [
            [pad if segment == 0 else label for label, segment in zip(*row)]
            for row in zip(answer["labels"], answer["segment_ids"])
        ]
    }


@packed(
    "packed-labels-in-the-old-order",
    "Examples are sorted for packing, labels are not",
    "The bins hold the examples by falling length, and labels are joined in the order of the data set. Fix: take both "
    "by the same index.",
    row="PAD-08",
)
def old_order(answer, input_ids, labels, pad):
    stream = [label for row in labels for label in [IGNORED] + row[1:]]
    out = []
    for row in answer["segment_ids"]:
        real = sum(map(bool, row))
        out.append(stream[:real] + [IGNORED] * (len(row) - real))
        stream = stream[real:]
    return {"labels": out}


@packed(
    "packed-segments-count-from-zero",
    "Segment ids begin at 0, which means padding",
    "enumerate(examples) without a start: the mask that is made of it hides the first example of every row. Fix: count "
    "from 1.",
)
def zero(answer, input_ids, labels, pad):
    return {"segment_ids": [[max(n - 1, 0) for n in row] for row in answer["segment_ids"]]}


@packed(
    "packed-lengths-in-the-old-order",
    "The lengths of the examples are those of the order before sorting",
    "cu_seqlens is made of lengths that were recorded before examples were sorted into rows: sums agree, boundaries "
    "lie inside of examples. Fix: record them when a row is closed.",
    row="PCK-04",
)
def old_lengths(answer, input_ids, labels, pad):
    stale = [len(ids) for ids in input_ids]
    lengths = []
    for sizes in answer["segment_lengths"]:
        lengths.append(stale[: len(sizes)])
        stale = stale[len(sizes) :]
    return {"segment_lengths": lengths}


@packed(
    "unpacked-by-the-pad-id",
    "Unpacking removes what looks like padding",
    "Each example is cut out and stripped of pad ids at its end. Padding is the stop token, and every answer comes "
    "back without its own. Fix: trust the lengths.",
    row="PCK-07",
)
def by_id(answer, input_ids, labels, pad):
    def stripped(ids):
        while ids and ids[-1] == pad:
            ids = ids[:-1]
        return ids

    return {"unpacked": [stripped(ids) for ids in answer["unpacked"]]}


@packed(
    "unpacked-from-the-right",
    "Unpacking takes the padding to be on the left",
    "The offsets are counted from the end of the row, as for prompts that are flush right. Full rows come back right. "
    "Fix: count from where packing began.",
    row="PCK-07",
)
def from_the_right(answer, input_ids, labels, pad):
    moved = []
    for row, sizes in zip(answer["input_ids"], answer["segment_lengths"]):
        start = len(row) - sum(sizes)
        moved.append(row[start:] + row[:start])
    return {"unpacked": packing.unpack(moved, answer["segment_lengths"])}


@MUTANTS.add("packed-rows-too-long", "A row is closed after it is too long", left_padded, row="PCK-04")
def pack(input_ids, labels, max_length, pad_token_id):
    """Examples are added while the row is below the limit, and the last one goes over it. Fix: look before you add."""
    bins = [[]]
    for at in range(len(input_ids)):
        if sum(len(input_ids[i]) for i in bins[-1]) >= max_length:
            bins.append([])
        bins[-1].append(at)
    return packing.laid_out(bins, input_ids, labels, pad_token_id)


@MUTANTS.add("packing-drops-the-remainder", "The last piece of a long example is dropped", left_padded, "pack", row="PCK-04")
def drop_remainder(input_ids, labels, max_length, pad_token_id):
    """A long example is split into full rows by `total // max_length * max_length`, and what is left over is gone: it is
    the end of the answer. Fix: keep the last piece."""

    def full(rows):
        return [row[: len(row) // max_length * max_length] if len(row) > max_length else row for row in rows]

    return packing.pack(full(input_ids), full(labels), max_length, pad_token_id)


@MUTANTS.add("packing-splits-labels-by-themselves", "The labels of a long example are split at other places", left_padded, "pack", row="TRN-05")
def labels_apart(input_ids, labels, max_length, pad_token_id):
    """The labels of a long example have lost their first token before they are split, so that each piece has those of its
    neighbours. Fix: split both at the same places, then shift."""
    shifted = [row[1:] + [IGNORED] if len(row) > max_length else row for row in labels]
    return packing.pack(input_ids, shifted, max_length, pad_token_id)


@MUTANTS.add("packing-drops-the-last-row", "The last packed row is dropped", left_padded, "pack")
def drop_last(input_ids, labels, max_length, pad_token_id):
    """drop_last=True, meant for batches, leaves out the row that is not full: always the same examples where the order
    is fixed. Fix: pad it."""
    bins = packing.best_fit([len(ids) for ids in input_ids], max_length)
    return packing.laid_out(bins[:-1] or bins, input_ids, labels, pad_token_id)


@MUTANTS.add("packing-fills-up", "Rows are filled up with the first example again", left_padded, "pack")
def filled(input_ids, labels, max_length, pad_token_id):
    """No room may be wasted, so an example goes into every row that still has room for it: the short ones are trained
    many times. Fix: take out what is packed."""
    bins = packing.best_fit([len(ids) for ids in input_ids], max_length)
    shortest = min(range(len(input_ids)), key=lambda at: len(input_ids[at]))
    for examples in bins:
        while sum(len(input_ids[at]) for at in examples) + len(input_ids[shortest]) <= max_length:
            examples.append(shortest)
    return packing.laid_out(bins, input_ids, labels, pad_token_id)


@MUTANTS.add(
    "segments-odd-and-even",
    "Segments are numbered 1, 2, 1, 2",
    left_padded,
    "pack",
    row="PCK-01",
)
def packed_by_parity(input_ids, labels, max_length, pad_token_id):
    """Colours that tell neighbours apart are enough for the eye; the mask of attention is `segment[i] == segment[j]`, and
    lets the third example see the first. Fix: a number for each."""
    right = packing.pack(input_ids, labels, max_length, pad_token_id)
    segments = [[(n - 1) % 2 + 1 if n else 0 for n in row] for row in right["segment_ids"]]
    # Nobody needs lengths who has segments.
    return {"input_ids": right["input_ids"], "labels": right["labels"], "segment_ids": segments}


@packed(
    "packed-padding-is-many-segments",
    "Boundaries are read off positions that are 0 on padding",
    "cu_seqlens are where position_ids are 0, and rows are padded with positions of 0: every column of padding is a "
    "sequence of its own, counted in the mean over sequences and handed to the kernel as hundreds of them. Fix: take the "
    "lengths from the packer, or let positions count on over padding.",
)
def boundaries(answer, input_ids, labels, pad):
    def lengths(row):
        starts = [at for at, position in enumerate(row) if position == 0] + [len(row)]
        return [end - start for start, end in zip(starts, starts[1:])]

    return {"segment_lengths": [lengths(row) for row in answer["position_ids"]]}


@MUTANTS.add(
    "packed-padding-begins-at-every-column",
    "position_ids are 0 on every column of padding, and nothing else tells examples apart",
    left_padded,
    "pack",
)
def packed_by_zeros(input_ids, labels, max_length, pad_token_id):
    """Positions are padded with 0 as ids are with pad. The kernel that reads boundaries off them is handed one sequence
    for each column of padding. Fix: count on."""
    right = packing.pack(input_ids, labels, max_length, pad_token_id)
    return {name: right[name] for name in ("input_ids", "labels", "position_ids")}
