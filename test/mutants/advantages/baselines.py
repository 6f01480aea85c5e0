"""Wrong baselines where it is not the mean: length-weighted ones (OPO), the best of the others (pass@k)."""

from conformance.baselines import OPO, PASS_AT_K, advantages_of, best_of

from ..registry import MUTANTS


def add(name, title, story, wrong, base=OPO, **rows):
    wrong.__doc__ = story
    MUTANTS.add(name, title, base, "advantages", **rows)(wrong)


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
add(
    "pass-at-k-for-every-row",
    "Every row has the lead of the best",
    "advantages[indices] = best - second, without the index of the best: the worst answers are reinforced, too.",
    best_of(counts=lambda reward, own: True),
    base=PASS_AT_K,
)
add(
    "pass-at-k-less-the-mean",
    "The best row is compared with the mean of its group, not with the second",
    "rewards.max() - rewards.mean(), from the line of GRPO above it: two equally good answers count for two.",
    best_of(gain=lambda own: max(own) - sum(own) / len(own)),
    base=PASS_AT_K,
)
add(
    "pass-at-k-of-the-batch",
    "The best of the whole batch is the only one with an advantage",
    "topk over all rewards, and not group by group: prompts that are hard train nothing.",
    best_of(same=lambda group, other: True),
    base=PASS_AT_K,
    row="ADV-03",
)
