"""Wrong layouts of preference pairs."""

from conformance import right_padded
from lossproof.examples import left_padded
from lossproof.examples.rows.preference import preference

from ..registry import MUTANTS

HALVES = ("chosen", "rejected")


@MUTANTS.add(
    "pair-mask-counts-padding",
    "The mask of a pair is everything behind the prompt",
    left_padded,
    "preference",
    row="MSK-06",
)
def preference_open_end(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """labels = input_ids.clone(), labels[: len(prompt)] = -100, and the padding stayed in: the half with the shorter
    completions is charged for pad tokens. Fix: cut the labels off where the completion ends, too."""
    right = preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id)
    for name in HALVES:
        width = len(right[name + "_input_ids"][0])
        right[name + "_mask"] = [[0] * len(p) + [1] * (width - len(p)) for p in prompt_ids]
    return right


@MUTANTS.add(
    "pair-mask-without-pad-ids",
    "Stop tokens are taken for padding in the mask of a pair",
    right_padded,
    "preference",
    row="EOS-01",
)
def preference_mask_by_id(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """labels[labels == pad_token_id] = -100 where pad is eos: the stop tokens count in neither half, and the model is
    not taught that good answers end. Fix: mask what was added, not what looks like it."""
    right = preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id)
    for name in HALVES:
        rows = zip(right[name + "_input_ids"], right[name + "_mask"])
        right[name + "_mask"] = [[on if id != pad_token_id else 0 for id, on in zip(*row)] for row in rows]
    return right


@MUTANTS.add(
    "pair-attention-from-ids",
    "The attention of a pair is ids != pad",
    left_padded,
    "preference",
    row="EOS-02",
)
def preference_attention_by_id(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """Where pad is eos, the ends of earlier turns in the prompt disappear from sight. Fix: take the mask from the
    padding step."""
    right = preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id)
    for name in HALVES:
        right[name + "_attention_mask"] = [
            [int(id != pad_token_id) for id in row] for row in right[name + "_input_ids"]
        ]
    return right


@MUTANTS.add(
    "pair-padding-is-id-0",
    "Padding is marked by 0 in the labels of a pair, and 0 is a token",
    right_padded,
    "preference",
    row="PAD-09",
)
def preference_zero_is_padding(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """labels[labels == -100] = 0 so that gather() does not fail, and the mask is made of labels != 0 behind that: a
    token with id 0 drops out. Fix: make the mask first."""
    right = preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id)
    for name in HALVES:
        rows = zip(right[name + "_input_ids"], right[name + "_mask"])
        right[name + "_mask"] = [[on if id != 0 else 0 for id, on in zip(*row)] for row in rows]
    return right


@MUTANTS.add("pair-halves-swapped", "Chosen and rejected change places", left_padded, "preference")
def preference_swapped(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """torch.cat((rejected, chosen)) in the collator, and chunk(2) is read as (chosen, rejected) behind the model: the
    run learns to be worse, with a good loss. Fix: one order, in one place."""
    return preference(prompt_ids, rejected_ids, chosen_ids, pad_token_id)


@MUTANTS.add(
    "pair-rejected-sorted",
    "The rejected half is sorted by length, and stays so",
    left_padded,
    "preference",
    row="PAD-08",
)
def preference_sorted(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """Rows of like length were put together to save padding, half by half, and only one half was put back: answers
    are compared with those to other questions. Fix: one order for both halves."""
    order = sorted(range(len(rejected_ids)), key=lambda row: len(rejected_ids[row]))
    return preference(prompt_ids, chosen_ids, [rejected_ids[row] for row in order], pad_token_id)


@MUTANTS.add(
    "pair-rejected-cut-to-the-chosen",
    "Rejected completions are cut to the length of their rivals",
    left_padded,
    "preference",
)
def preference_cut(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """Both halves had to fit into one tensor, and the width was taken from the first: long rejected answers lose their
    end. Fix: pad to the longer half."""
    cut = [rejected[: len(chosen)] for chosen, rejected in zip(chosen_ids, rejected_ids)]
    return preference(prompt_ids, chosen_ids, cut, pad_token_id)


@MUTANTS.add(
    "pair-mask-behind-the-longest-prompt",
    "Completions of pairs are taken to begin behind the longest prompt",
    left_padded,
    "preference",
    row="PAD-03",
)
def preference_one_start(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """mask[:, :P] = 0 is right for prompts that are padded on the left, and these rows are flush left: the short
    prompts' completions lose their first tokens. Fix: each row has its own start."""
    right = preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id)
    start = max(map(len, prompt_ids))
    for name in HALVES:
        right[name + "_mask"] = [[0] * start + row[start:] for row in right[name + "_mask"]]
    return right


@MUTANTS.add(
    "pair-mask-from-the-back",
    "The mask of a pair is laid from the end of the row: of an empty completion, the whole row",
    left_padded,
    "preference",
    rows=("MSK-01",),
)
def preference_mask_from_the_back(prompt_ids, chosen_ids, rejected_ids, pad_token_id):
    """mask[-len(completion):] = 1, and -0 is 0: where nothing was answered, the prompt counts. Fix: lay it from the front,
    at len(prompt)."""
    right = preference(prompt_ids, chosen_ids, rejected_ids, pad_token_id)
    for name, completions in zip(HALVES, (chosen_ids, rejected_ids)):
        for row, prompt, completion in zip(right[name + "_mask"], prompt_ids, completions):
            if not completion:
                row[: len(prompt)] = [1] * len(prompt)
    return right
