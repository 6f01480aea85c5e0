"""Wrong extraction, masks and collation: padding, position and stop token mistaken for one another."""

from .. import left_padded, right_padded
from ..rows import pad_right, through_stop
from . import MUTANTS


@MUTANTS.add(
    "extract-start-by-pad-count",
    "Extraction starts behind the ids that are not padding",
    left_padded,
    row="PAD-01",
)
def extract(input_ids, sequences, pad_token_id, eos_token_ids):
    """len(prompt without pad ids) is a count, not a column, and miscounts where pad is also the stop token."""
    return {
        "completion_ids": [
            through_stop(row[sum(id != pad_token_id for id in padded) :], eos_token_ids)
            for padded, row in zip(input_ids, sequences)
        ]
    }


@MUTANTS.add("extract-early-by-one", "Extraction takes the last prompt token along", left_padded, "extract")
def extract_early(input_ids, sequences, eos_token_ids):
    """P - 1 is where the first logit stands, not where the first token stands."""
    return {
        "completion_ids": [
            row[len(padded) - 1 : len(padded)] + through_stop(row[len(padded) :], eos_token_ids)
            for padded, row in zip(input_ids, sequences)
        ]
    }


@MUTANTS.add("extract-late-by-one", "Extraction loses the first completion token", left_padded, "extract")
def extract_late(input_ids, sequences, eos_token_ids):
    """P + 1, from counting columns from one."""
    return {
        "completion_ids": [
            through_stop(row[len(padded) + 1 :], eos_token_ids) for padded, row in zip(input_ids, sequences)
        ]
    }


@MUTANTS.add("extract-drops-pad-ids", "Extraction drops every id that equals pad", left_padded, "extract")
def extract_filtered(
    padding_side, prompt_ids, input_ids, sequences, sampled_ids, pad_token_id, eos_token_ids
):
    """[id for id in row if id != pad] also drops real stop tokens when pad is one of them."""
    right = left_padded.extract(padding_side, prompt_ids, input_ids, sequences, sampled_ids, eos_token_ids)
    return {"completion_ids": [[id for id in ids if id != pad_token_id] for ids in right["completion_ids"]]}


@MUTANTS.add(
    "extract-first-stop-id-only",
    "Only the first of several stop ids ends a completion",
    left_padded,
    "extract",
    row="EOS-05",
)
def extract_first_stop(padding_side, prompt_ids, input_ids, sequences, sampled_ids, eos_token_ids):
    """tokenizer.eos_token_id is one id; the generation configuration has a list."""
    return left_padded.extract(padding_side, prompt_ids, input_ids, sequences, sampled_ids, eos_token_ids[:1])


def spoilt(spoil):
    """A mask op that computes the right completion mask and hands it to `spoil`, row by row."""

    def mask(sequences, attention_mask, prompt_width, eos_token_ids):
        right = left_padded.mask(sequences, attention_mask, prompt_width, eos_token_ids)
        return {"completion_mask": [spoil(row) for row in right["completion_mask"]]}

    return mask


def one_left(row):
    """The mask is shifted one token to the left: the last trained token is lost."""
    return row[1:] + [0]


def one_right(row):
    """The mask is shifted one token to the right: the first completion token is never trained."""
    return [0] + row[:-1]


def everything(row):
    """The whole completion block is trained, padding behind the stop token included."""
    return [1] * len(row)


def nothing(row):
    """Every mask is empty, and the loss is silently zero."""
    return [0] * len(row)


def no_last(row):
    """The last token of every completion, which is its stop token, is not trained."""
    last = len(row) - 1 - row[::-1].index(1) if 1 in row else -1
    return [0 if t == last else on for t, on in enumerate(row)]


for name, spoil, row in (
    ("mask-shifted-left", one_left, "MSK-04"),
    ("mask-shifted-right", one_right, "MSK-04"),
    ("mask-trains-padding", everything, "EOS-03"),
    ("mask-trains-nothing", nothing, "ZL-02"),
    ("mask-misses-the-stop-token", no_last, ""),
):
    wrong = spoilt(spoil)
    wrong.__doc__ = spoil.__doc__
    MUTANTS.add(name, spoil.__doc__.split(":")[0].rstrip("."), left_padded, "mask", row=row)(wrong)


@MUTANTS.add(
    "mask-trains-after-stop", "Tokens behind the stop token are trained", left_padded, "mask", row="EOS-03"
)
def mask_after_stop(sequences, attention_mask, prompt_width, pad_token_id):
    """The completion is taken to end where padding begins: samplers leave other tokens behind a stop."""
    return {
        "completion_mask": [
            [int(on or id != pad_token_id) for on, id in zip(real[prompt_width:], row[prompt_width:])]
            for real, row in zip(attention_mask, sequences)
        ]
    }


@MUTANTS.add("mask-by-pad-id", "The completion mask is `ids != pad`", left_padded, "mask", row="EOS-01")
def mask_by_id(sequences, prompt_width, pad_token_id):
    """Loses the real stop token when pad is the stop token: the policy never learns to end."""
    return {"completion_mask": [[int(id != pad_token_id) for id in row[prompt_width:]] for row in sequences]}


@MUTANTS.add(
    "mask-first-stop-id-only",
    "Only the first of several stop ids ends the mask",
    left_padded,
    "mask",
    row="EOS-05",
)
def mask_first_stop(sequences, prompt_width, eos_token_ids):
    """`ids == eos_token_ids[0]`: completions that end with another stop id train whatever stands behind it."""
    blocks = [row[prompt_width:] for row in sequences]
    first = eos_token_ids[:1]
    return {"completion_mask": [left_padded.completion_mask(ids, [1] * len(ids), first) for ids in blocks]}


@MUTANTS.add(
    "mask-trains-the-prompt",
    "The attention mask is used as the completion mask",
    right_padded,
    "mask",
    row="MSK-01",
)
def mask_prompt(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """Every real token is trained, so the policy is rewarded for what the user wrote."""
    right = right_padded.mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids)
    return dict(right, completion_mask=[row[1:] for row in right["attention_mask"]])


@MUTANTS.add(
    "mask-cut-at-the-wrong-end",
    "The predictor mask is mask[:, :-1] instead of mask[:, 1:]",
    right_padded,
    "mask",
    row="MSK-04",
)
def mask_unshifted(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """T - 1 columns either way, so nothing complains; each weight falls on the token behind its own."""
    completion_ids = [through_stop(ids, eos_token_ids) for ids in completion_ids]
    right = right_padded.mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids)
    marks, _ = pad_right([[0] * len(p) + [1] * len(c) for p, c in zip(prompt_ids, completion_ids)], 0)
    return dict(right, completion_mask=[row[:-1] for row in marks])


@MUTANTS.add(
    "mask-id-zero-is-unset", "A stop id of 0 is taken for `not set`", right_padded, "mask", row="TOK-04"
)
def mask_zero(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """`if id and id in stops`: with a stop id of 0 the completion's own stop token is filtered out as unset."""
    kept = [[id for id in ids if id or 0 not in eos_token_ids] for ids in completion_ids]
    return right_padded.mask(prompt_ids, kept, pad_token_id, eos_token_ids)


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


@MUTANTS.add(
    "extract-right-by-pad-count",
    "Extraction behind right-padded prompts starts at the number of ids that are not pad",
    right_padded,
    "extract",
    row="PAD-01",
)
def extract_right(input_ids, sequences, sampled_ids, pad_token_id, eos_token_ids):
    """Rows are flush left, so the count is the column: until pad is set to eos, which every earlier turn of the prompt
    ends with. Fix: keep the lengths from before the padding."""
    starts = [sum(id != pad_token_id for id in padded) for padded in input_ids]
    return {
        "completion_ids": [
            through_stop(row[start : start + len(sampled)], eos_token_ids)
            for row, start, sampled in zip(sequences, starts, sampled_ids)
        ]
    }
