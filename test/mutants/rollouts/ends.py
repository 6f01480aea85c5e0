"""Wrong ends of completions: log-probabilities that end elsewhere than ids, and flags that lengths were asked for."""

from conformance import right_padded
from lossproof.examples import left_padded, stop_excluded

from ..registry import MUTANTS


@MUTANTS.add(
    "extract-keeps-the-stops-logprob",
    "The stop token is trimmed from the ids only",
    stop_excluded,
    "extract",
    row="EOS-11",
)
def keeps_logprob(input_ids, sequences, eos_token_ids, sampling_logprobs=None):
    """Ids lose their stop token, numbers keep its one; zip hides it row by row, a concatenation does not. Fix: trim both
    by the same count."""
    right = stop_excluded.extract(input_ids, sequences, eos_token_ids, sampling_logprobs)
    if sampling_logprobs is not None:
        right["logprobs"] = [
            row[: len(ids) + 1] for row, ids in zip(sampling_logprobs, right["completion_ids"])
        ]
    return right


@MUTANTS.add(
    "extract-logprobs-begin-late",
    "Log-probabilities lose their first value instead of their last",
    left_padded,
    "extract",
    row="EOS-11",
)
def begin_late(
    padding_side, prompt_ids, input_ids, sequences, sampled_ids, eos_token_ids, sampling_logprobs=None
):
    """The engine's list was taken to begin with the last prompt token, as some do. Fix: know whose list it is."""
    args = (padding_side, prompt_ids, input_ids, sequences, sampled_ids, eos_token_ids)
    right = left_padded.extract(*args, sampling_logprobs)
    if sampling_logprobs is not None:
        rows = zip(sampling_logprobs, right["completion_ids"])
        right["logprobs"] = [(row[1:] + [0.0])[: len(ids)] for row, ids in rows]
    return right


@MUTANTS.add(
    "truncated-is-a-length",
    "What is as long as the limit counts as cut",
    left_padded,
    "mask",
    row="EOS-12",
)
def by_length(sequences, attention_mask, prompt_width, eos_token_ids):
    """len(completion) == max_tokens, also where the last of these tokens is the stop. Fix: ask why sampling ended."""
    right = left_padded.mask(sequences, attention_mask, prompt_width, eos_token_ids)
    full = [int(sum(mask) == len(mask)) for mask in right["completion_mask"]]
    return dict(right, truncated=full)


@MUTANTS.add(
    "truncated-after-the-cut",
    "The flag is computed from what is left after cutting",
    right_padded,
    "mask",
    row="EOS-12",
)
def after_the_cut(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """Completions lose their stop token first, and are then asked for it: all of them were cut. Fix: look first."""
    right = right_padded.mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids)
    bare = [[id for id in ids if id not in eos_token_ids] for ids in completion_ids]
    return dict(right, truncated=[int(not set(ids) & set(eos_token_ids)) for ids in bare])


@MUTANTS.add(
    "truncated-knows-one-stop",
    "Only the first stop id ends a completion",
    left_padded,
    "mask",
    row="EOS-05",
    rows=("EOS-12",),
)
def one_stop(sequences, attention_mask, prompt_width, eos_token_ids):
    """eos_token_id is a list, and its first entry was taken: answers that end with another count as cut, and are filtered
    out. Fix: `in`."""
    right = left_padded.mask(sequences, attention_mask, prompt_width, eos_token_ids)
    return dict(right, truncated=[int(eos_token_ids[0] not in row[prompt_width:]) for row in sequences])
