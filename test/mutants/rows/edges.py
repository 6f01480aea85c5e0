"""Wrong rows at sizes that are rarely drawn: many examples in one row, rows that are alike, ids of large vocabularies."""

from lossproof.examples import left_padded
from lossproof.examples.rows import packing, truncation
from lossproof.examples.rows.preference import preference

from ..registry import MUTANTS


@MUTANTS.add("pack-segments-in-three-bits", "The ninth example of a row is told as the first", left_padded, "pack", row="PCK-01")
def pack(input_ids, labels, max_length, pad_token_id):
    """Ids of segments share a byte with other flags, and wrap at eight: attention goes from one example to another. Fix: a
    column of their own."""
    answer = packing.pack(input_ids, labels, max_length, pad_token_id)
    wrapped = [[id and 1 + (id - 1) % 8 for id in row] for row in answer["segment_ids"]]
    return dict(answer, segment_ids=wrapped)


@MUTANTS.add(
    "truncate-labels-by-their-row",
    "Rows that are alike when cut share the labels of the first",
    left_padded,
    "truncate",
    row="TRN-01",
)
def truncate(input_ids, labels, max_length):
    """Labels are looked up by the tuple of the cut ids: of two examples that begin alike, the second is trained where the first
    was. Fix: cut both lists by one index."""
    answer = truncation.truncate(input_ids, labels, max_length)
    first = {}
    found = [first.setdefault(tuple(ids), row) for ids, row in zip(answer["input_ids"], answer["labels"])]
    return dict(answer, labels=found)


@MUTANTS.add(
    "collate-ids-of-16-bits", "Ids above 32,767 wrap", left_padded, "collate", any_ids=True, row="PAD-08"
)
def collate(input_ids, labels, pad_token_id):
    """Data sets are kept as int16, which was enough for the tokenizer before. Fix: int32."""
    narrow = [[(id + 32768) % 65536 - 32768 for id in row] for row in input_ids]
    return left_padded.collate(narrow, labels, pad_token_id)


@MUTANTS.add("collate-cut-at-512", "Rows of a batch end at token 512", left_padded, "collate", row="TRN-06")
def collate_cut(input_ids, labels, pad_token_id):
    """The collator has a max_length of its own, which nobody sets. Fix: none, or the one of the data set."""
    batch = left_padded.collate(input_ids, labels, pad_token_id)
    return {name: [row[:512] for row in rows] for name, rows in batch.items()}


@MUTANTS.add("pack-cut-at-512", "Examples are packed up to their token 512", left_padded, "pack", row="TRN-04")
def pack_cut(input_ids, labels, max_length, pad_token_id):
    """The data set was tokenised with truncation=True at the default of another stage. Fix: the limit of the row."""
    return packing.pack([row[:512] for row in input_ids], [row[:512] for row in labels], max_length, pad_token_id)


@MUTANTS.add("pair-prompts-cut-at-512", "Pairs lose what stands before the last 512 tokens of their prompt", left_padded, "preference", row="TRN-03")
def preference_cut(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """max_prompt_length has a default in the collator: long pairs are behind half a question. Fix: leave the pair out."""
    return preference([row[-512:] for row in prompt_ids], chosen_ids, rejected_ids, pad_token_id)


@MUTANTS.add("pair-completions-cut-at-2048", "Completions of pairs end at their token 2,048", left_padded, "preference", row="TRN-04")
def preference_completions_cut(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """max_completion_length, likewise. Fix: leave the pair out."""
    cut = [[row[:2048] for row in rows] for rows in (chosen_ids, rejected_ids)]
    return preference(prompt_ids, *cut, pad_token_id)


@MUTANTS.add("truncate-at-1024-at-most", "A limit above 1,024 is 1,024", left_padded, "truncate", row="TRN-06")
def truncate_at_most(input_ids, labels, max_length):
    """min(max_length, tokenizer.model_max_length), which a folder forgot to raise. Fix: refuse a limit that is not kept."""
    return truncation.truncate(input_ids, labels, min(max_length, 1024))


@MUTANTS.add("prompts-of-1024-at-most", "A limit of prompts above 1,024 is 1,024", left_padded, "truncate_prompts", row="TRN-06")
def prompts_at_most(prompt_ids, max_prompt_length, pad_token_id):
    """As truncate-at-1024-at-most, of prompts."""
    return truncation.truncate_prompts(prompt_ids, min(max_prompt_length, 1024), pad_token_id)
