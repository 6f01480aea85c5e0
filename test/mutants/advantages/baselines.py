"""Wrong length-weighted baselines (OPO)."""

from conformance.baselines import OPO, advantages_of

from ..registry import MUTANTS


def add(name, title, story, wrong, **rows):
    wrong.__doc__ = story
    MUTANTS.add(name, title, OPO, "advantages", **rows)(wrong)


add(
    "baseline-without-lengths",
    "The lengths that weigh the baseline are all taken for 1",
    "response_length was summed over the mask after it had been reduced to one column. Fix: sum first.",
    advantages_of(weights=lambda lengths, prompt_ids: [1] * len(lengths)),
)
add(
    "baseline-weighted-by-whole-rows",
    "The lengths that weigh the baseline count the prompt, too",
    "attention_mask.sum(-1) in the place of response_mask.sum(-1): lengths are more alike than those of the answers.",
    advantages_of(weights=lambda lengths, prompt_ids: [n + len(p) for n, p in zip(lengths, prompt_ids)]),
)
add(
    "baseline-weighted-over-the-batch",
    "The length-weighted baseline is that of the batch",
    "One weighted mean for all prompts: easy ones are rewarded, hard ones punished. Fix: one a group.",
    advantages_of(same=lambda group, other: True),
    row="ADV-03",
)
