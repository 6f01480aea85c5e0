"""Rows and prompts that are too long, for ops truncate and truncate_prompts."""

from ..lists import pad_left

IGNORED = -100


def truncate(input_ids, labels, max_length):
    """The first max_length tokens of each example, and all that belongs to them. An example that loses its last label
    so would be a row that trains nothing: it is left out, and `kept` says so."""
    kept = [at for at, row in enumerate(labels) if len(row) <= max_length or trains(row[:max_length])]
    rows = [input_ids[at][:max_length] for at in kept]
    return {
        "input_ids": rows,
        "labels": [labels[at][:max_length] for at in kept],
        "attention_mask": [[1] * len(row) for row in rows],
        "position_ids": [list(range(len(row))) for row in rows],
        "kept": kept,
    }


def trains(labels):
    return any(label != IGNORED for label in labels)


def truncate_prompts(prompt_ids, max_prompt_length, pad_token_id):
    """A prompt that is too long is left out. Cut on the left it would lose its system message, on the right its
    question: either way the model answers what nobody asked."""
    kept = [at for at, row in enumerate(prompt_ids) if len(row) <= max_prompt_length]
    return padded([prompt_ids[at] for at in kept], pad_token_id, kept)


def padded(prompts, pad_token_id, kept):
    """Prompts flush right, as generation wants them."""
    input_ids, attention_mask = pad_left(prompts, pad_token_id)
    return {"input_ids": input_ids, "attention_mask": attention_mask, "kept": kept}


OPS = {"truncate": truncate, "truncate_prompts": truncate_prompts}
# The first two are about op truncate: examples of supervised fine-tuning, not prompts. Nothing else cuts.
SEMANTICS = {"truncation_side": "right", "overlong": "truncate", "cut_at": []}
