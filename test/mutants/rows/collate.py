"""Wrong collation: padding known by its id, labels that are lost."""

from conformance import right_padded
from lossproof.examples import left_padded
from lossproof.examples.lists import pad_right
from lossproof.examples.text.chat import STOP_ID

from ..registry import MUTANTS


@MUTANTS.add(
    "collate-attention-by-id", "The collator's attention mask is `ids != pad`", left_padded, row="EOS-02"
)
def collate(input_ids, labels, pad_token_id):
    """Hides every real stop token from the model when pad is the stop token."""
    right = left_padded.collate(input_ids, labels, pad_token_id)
    return dict(right, attention_mask=[[int(id != pad_token_id) for id in row] for row in right["input_ids"]])


@MUTANTS.add(
    "collate-labels-by-id", "Labels are -100 wherever the id is pad's", left_padded, "collate", row="EOS-01"
)
def collate_labels(input_ids, labels, pad_token_id):
    """labels[labels == pad] = -100, as common collators do: with pad = eos the stop token is never trained."""
    right = left_padded.collate(input_ids, labels, pad_token_id)
    return dict(right, labels=[[-100 if id == pad_token_id else id for id in row] for row in right["labels"]])


@MUTANTS.add(
    "collate-labels-padded-with-pad",
    "Labels are padded with the pad id",
    left_padded,
    "collate",
    row="MSK-06",
)
def collate_trains_padding(input_ids, labels, pad_token_id):
    """The tokenizer's own padding fills every list it is given with pad, and padding is trained."""
    right = left_padded.collate(input_ids, labels, pad_token_id)
    return dict(right, labels=pad_right(labels, pad_token_id)[0])


@MUTANTS.add(
    "collate-positions-count-padding",
    "Position ids count columns on left-padded rows",
    left_padded,
    "collate",
    row="PAD-05",
)
def collate_positions(input_ids, labels, pad_token_id):
    """range(T) is right only for rows that begin at column 0, and these end at column T."""
    width = max(map(len, input_ids))
    short = [width - len(row) for row in input_ids]
    return {
        "input_ids": [[pad_token_id] * n + row for n, row in zip(short, input_ids)],
        "attention_mask": [[0] * n + [1] * len(row) for n, row in zip(short, input_ids)],
        "labels": [[-100] * n + row for n, row in zip(short, labels)],
        "position_ids": [list(range(width)) for _ in input_ids],
    }


@MUTANTS.add("collate-zip-cuts-rows", "Rows are cut to the shortest of the batch", left_padded, "collate")
def collate_zipped(input_ids, labels, pad_token_id):
    """zip(*rows) transposes without a word about rows of unequal length: it stops with the shortest, so long answers
    never end. Fix: zip_longest, or zip(strict=True) behind the padding."""
    ids, kept = [[list(row) for row in zip(*zip(*rows))] for rows in (input_ids, labels)]
    return left_padded.collate(ids, kept, pad_token_id)


IGNORED = -100


@MUTANTS.add(
    "collate-pads-with-eos", "The collator pads with eos where pad is another id", right_padded, "collate", row="EOS-13"
)
def collate_with_eos(input_ids, labels, pad_token_id):
    """`pad_token_id = tokenizer.eos_token_id` stayed from a model that had no pad token, and the attention mask is
    still `ids != pad`: with a pad token of its own, padding is attended to. Fix: one pad id, handed to both; better, a
    mask that is made from lengths."""
    ids, _ = pad_right(input_ids, STOP_ID)
    return {
        "input_ids": ids,
        "attention_mask": [[int(id != pad_token_id) for id in row] for row in ids],
        "labels": pad_right(labels, IGNORED)[0],
    }


@MUTANTS.add(
    "collate-label-zero-is-ignored", "A label of 0 is turned into -100", right_padded, "collate", row="TOK-04"
)
def collate_without_zero(input_ids, labels, pad_token_id):
    """`label or IGNORED`: the id 0 is no target any more."""
    rows = [[label or -100 for label in row] for row in labels]
    return right_padded.collate(input_ids, rows, pad_token_id)


@MUTANTS.add(
    "collate-cuts-at-the-width",
    "Rows are padded to a fixed width, and cut at it where they are longer",
    left_padded,
    "collate",
    rows=("TRN-01",),
)
def collate_to_width(input_ids, labels, pad_token_id):
    """padding="max_length" came with truncation=True: the width was chosen for another data set, and the ends of long
    answers are lost without a word. Fix: padding to the longest, or a limit that is checked."""
    width = 32
    cut = [row[:width] for row in input_ids], [row[:width] for row in labels]
    return left_padded.collate(*cut, pad_token_id)


@MUTANTS.add(
    "collate-positions-in-bfloat16",
    "Positions above 256 are rounded",
    left_padded,
    "collate",
    row="PAD-05",
)
def collate_positions_rounded(input_ids, labels, pad_token_id):
    """The batch is cast to bfloat16 with all that is in it, which holds whole numbers up to 256. Fix: cast what is floating."""
    batch = left_padded.collate(input_ids, labels, pad_token_id)
    counted = [[max(0, sum(row[: at + 1]) - 1) for at in range(len(row))] for row in batch["attention_mask"]]
    return dict(batch, position_ids=[[rounded(at) for at in row] for row in counted])


def rounded(at):
    step = 1 << max(0, at.bit_length() - 8)
    return round(at / step) * step
