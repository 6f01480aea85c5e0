"""Pairs of a better and a worse completion laid out in rows, for op preference."""

from ..lists import pad_left, pad_right


def preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """Both halves get the same prompts; what is padding and what is completion is known from where it was put."""
    return {
        **half("chosen", prompt_ids, chosen_ids, pad_token_id, pad_right),
        **half("rejected", prompt_ids, rejected_ids, pad_token_id, pad_right),
    }


def preference_flush_right(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """Likewise, with the padding on the left."""
    return {
        **half("chosen", prompt_ids, chosen_ids, pad_token_id, pad_left),
        **half("rejected", prompt_ids, rejected_ids, pad_token_id, pad_left),
    }


def half(name, prompt_ids, completion_ids, pad, place):
    """One half of the pairs: rows of prompt and completion, and 1 on the tokens whose log-probabilities count."""
    marks = [[0] * len(p) + [1] * len(c) for p, c in zip(prompt_ids, completion_ids)]
    input_ids, attention_mask = place([p + c for p, c in zip(prompt_ids, completion_ids)], pad)
    return {
        name + "_input_ids": input_ids,
        name + "_attention_mask": attention_mask,
        name + "_mask": place(marks, 0)[0],
    }


OPS = {"preference": preference}
SEMANTICS = {}
