"""Wrong extraction of completions: columns and stop tokens mistaken for one another."""

from conformance import right_padded
from lossproof.examples import left_padded
from lossproof.examples.lists import through_stop

from ..registry import MUTANTS


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


@MUTANTS.add(
    "extract-id-zero-is-unset", "A stop id of 0 does not end a completion", right_padded, "extract", row="TOK-04"
)
def extract_zero_is_unset(sampled_ids, eos_token_ids, sampling_logprobs=None):
    """`if eos_token_id:` is false for 0."""
    return right_padded.extract(sampled_ids, [id for id in eos_token_ids if id], sampling_logprobs)
