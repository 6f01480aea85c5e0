"""Wrong completion masks that one padding hides and another shows: its id, its width, its mates."""

from conformance import right_padded
from lossproof.examples import left_padded, stop_excluded
from lossproof.examples.lists import pad_right, through_stop

from ..registry import MUTANTS


@MUTANTS.add(
    "mask-subtracts-stops",
    "The mask falls below zero behind the stop token",
    left_padded,
    "mask",
    row="EOS-03",
)
def mask_negative(sequences, prompt_width, eos_token_ids):
    """1 - stops seen before: 0 behind one stop, -1 behind two, and padding is made of stop tokens. The loss of the
    padding was added with the wrong sign. Fix: stops seen before == 0."""
    out = []
    for row in sequences:
        marks, stops = [], 0
        for id in row[prompt_width:]:
            marks.append(1 - stops)
            stops += id in eos_token_ids
        out.append(marks)
    return {"completion_mask": out}


@MUTANTS.add(
    "mask-flush-left-by-pad-id",
    "The mask of rows built anew is `ids != pad`",
    right_padded,
    "mask",
    row="EOS-01",
)
def mask_by_id(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """The mask is right until a configuration sets pad to eos, and then the stop token is never trained.
    Fix: build the mask beside the row, from its lengths."""
    right = right_padded.mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids)
    rows = zip(right["completion_mask"], right["input_ids"])
    marks = [[on * (id != pad_token_id) for on, id in zip(mask, ids[1:])] for mask, ids in rows]
    return dict(right, completion_mask=marks)


@MUTANTS.add(
    "mask-starts-at-prompt-length",
    "The mask starts at the number of prompt tokens instead of at the prompt's width",
    left_padded,
    "mask",
    row="PAD-02",
    rows=("PAD-01",),
)
def mask_by_count(sequences, attention_mask, prompt_width, eos_token_ids):
    """row[n : n + length] = 1 with n the real prompt tokens: each column of padding on the left moves the mask one
    token to the front of its completion, and off its end. Fix: start at prompt_width in every row."""
    right = left_padded.mask(sequences, attention_mask, prompt_width, eos_token_ids)
    out = []
    for real, mask in zip(attention_mask, right["completion_mask"]):
        start = sum(real[:prompt_width])
        end = start + sum(mask)
        out.append([int(start <= column < end) for column in range(prompt_width, len(real))])
    return {"completion_mask": out}


@MUTANTS.add(
    "mask-row-gets-a-stop", "Every row is given a stop token at its end", right_padded, "mask", row="EOS-06"
)
def mask_adds_stop(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """Completions cut off by their length end without a stop, and one was added "for the value head": a token that
    the policy never sampled is trained with the row's advantage. Fix: add nothing behind what was sampled."""
    ended = [ids if ids and ids[-1] in eos_token_ids else ids + eos_token_ids[:1] for ids in completion_ids]
    return right_padded.mask(prompt_ids, ended, pad_token_id, eos_token_ids)


@MUTANTS.add(
    "mask-stays-when-rows-are-sorted",
    "Rows are put back in order, their masks not",
    left_padded,
    "mask",
    row="PAD-08",
)
def mask_sorted(sequences, attention_mask, prompt_width, eos_token_ids):
    """Batches were packed by length, and the reordering was undone for ids and scores only. Fix: undo it for every
    tensor of the batch, in one place."""
    order = sorted(range(len(sequences)), key=lambda row: sum(attention_mask[row]))
    right = left_padded.mask(sequences, attention_mask, prompt_width, eos_token_ids)
    return {"completion_mask": [right["completion_mask"][row] for row in order]}


@MUTANTS.add(
    "mask-positions-count-padding",
    "Position ids of left-padded rows count columns",
    stop_excluded,
    "mask",
    row="PAD-05",
)
def mask_positions(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """range(T) in every row: what was sampled at position 3 is trained at position 3 + padding, and the ratio is off
    before the first step. Fix: cumsum(attention) - 1."""
    right = stop_excluded.mask(prompt_ids, completion_ids, pad_token_id, eos_token_ids)
    return dict(right, position_ids=[list(range(len(row))) for row in right["input_ids"]])


@MUTANTS.add("mask-kept-by-prompt", "Masks are kept in a table by prompt", left_padded, "mask", row="ADV-09")
def mask_by_prompt(prompt_ids, sequences, attention_mask, prompt_width, eos_token_ids):
    """{prompt: mask}: the G samples of one prompt all get the mask of the last. Fix: keep them by row."""
    right = left_padded.mask(sequences, attention_mask, prompt_width, eos_token_ids)["completion_mask"]
    kept = {tuple(prompt): mask for prompt, mask in zip(prompt_ids, right)}
    return {"completion_mask": [kept[tuple(prompt)] for prompt in prompt_ids]}


@MUTANTS.add(
    "mask-pads-with-eos", "Rows are padded with eos, and masked by pad", right_padded, "mask", row="EOS-13"
)
def mask_padded_with_eos(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """The batcher of the rollout worker pads with eos, the trainer's masks are `ids != pad`. They agree while pad is
    eos, and with any other tokenizer all padding is real. Fix: send lengths along."""
    completion_ids = [through_stop(ids, eos_token_ids) for ids in completion_ids]
    rows = [prompt + completion for prompt, completion in zip(prompt_ids, completion_ids)]
    input_ids, _ = pad_right(rows, eos_token_ids[0])
    real = [[int(id != pad_token_id) for id in row] for row in input_ids]
    return {
        "input_ids": input_ids,
        "attention_mask": real,
        "completion_mask": [
            [int(on and t >= len(prompt)) for t, on in enumerate(row)][1:]
            for row, prompt in zip(real, prompt_ids)
        ],
    }


@MUTANTS.add(
    "mask-counts-the-lost-stop",
    "The stop token is lost on the way into the row, and counted in the mask",
    right_padded,
    "mask",
)
def mask_counts_lost(prompt_ids, completion_ids, pad_token_id, eos_token_ids):
    """Completions went through text with skip_special_tokens=True; the mask took as many tokens off the row's end as had
    been sampled. The last token of each prompt was trained, the stop token never. Fix: keep the sampled ids."""
    kept = [ids[:-1] if ids and ids[-1] in eos_token_ids else ids for ids in completion_ids]
    right = right_padded.mask(prompt_ids, kept, pad_token_id, eos_token_ids)
    masks = []
    for prompt, left, ids, row in zip(prompt_ids, kept, completion_ids, right["completion_mask"]):
        end = len(prompt) + len(left)
        masks.append([int(end - len(ids) <= column + 1 < end) for column in range(len(row))])
    return dict(right, completion_mask=masks, truncated=[False] * len(masks))
