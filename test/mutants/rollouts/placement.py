"""Wrong completion masks: a token too many or too few, or marked by an id."""

from conformance import right_padded
from lossproof.examples import left_padded
from lossproof.examples.lists import pad_right, through_stop

from ..registry import MUTANTS


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
