"""Wrong trainers that take the id 0 for no id at all."""

from .. import right_padded
from . import MUTANTS


@MUTANTS.add(
    "extract-id-zero-is-unset", "A stop id of 0 does not end a completion", right_padded, "extract", row="TOK-04"
)
def extract(sampled_ids, eos_token_ids, sampling_logprobs=None):
    """`if eos_token_id:` is false for 0."""
    return right_padded.extract(sampled_ids, [id for id in eos_token_ids if id], sampling_logprobs)


@MUTANTS.add(
    "collate-label-zero-is-ignored", "A label of 0 is turned into -100", right_padded, "collate", row="TOK-04"
)
def collate(input_ids, labels, pad_token_id):
    """`label or IGNORED`: the id 0 is no target any more."""
    rows = [[label or -100 for label in row] for row in labels]
    return right_padded.collate(input_ids, rows, pad_token_id)
