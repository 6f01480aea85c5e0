"""Wrong layouts of preference pairs, and wrong losses on them."""

import math

from .. import left_padded, right_padded, stop_excluded
from ..preference import (
    BETA,
    IPO_BETA,
    SIMPO_BETA,
    SIMPO_GAMMA,
    dpo_loss,
    ipo_loss,
    log_sigmoid,
    pairs,
    per_token,
    preference,
    ratios,
)
from . import MUTANTS

HALVES = ("chosen", "rejected")
# What stands in a padded table of log-probabilities where there is no token.
INVALID_LOGPROB = 1.0


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
    "dpo-over-means",
    "DPO compares means over tokens",
    left_padded,
    "preference_loss",
    row="LOSS-13",
)
def dpo_mean(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """average_log_prob=True was left on from another objective: with beta 0.1 the margin is next to nothing, and the
    loss stays at log 2. Fix: sum."""
    rows = (chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs)
    return dpo_loss(*[[[sum(row) / len(row)] for row in each] for each in rows], settings=settings)


@MUTANTS.add(
    "ipo-over-sums",
    "IPO compares sums over tokens",
    right_padded,
    "preference_loss",
    row="LOSS-13",
)
def ipo_sum(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs):
    """The target margin 1 / (2 beta) is one number for all pairs, and sums grow with the length: long pairs are pulled
    back for being long. Fix: means over tokens."""
    rows = (chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs)
    return ipo_loss(*[[[sum(row)] for row in each] for each in rows])


@MUTANTS.add(
    "simpo-divides-twice",
    "SimPO divides by the length twice",
    stop_excluded,
    "preference_loss",
    row="LOSS-13",
)
def simpo_twice(chosen_logprobs, rejected_logprobs):
    """The collator's log-probabilities were means already, and the loss divided again: long answers count nothing.
    Fix: divide in one place."""
    halves = (chosen_logprobs, rejected_logprobs)
    return simpo(*[per_token(per_token(map(sum, rows), rows), rows) for rows in halves])


@MUTANTS.add(
    "ipo-one-length-for-both",
    "Both completions of a pair are averaged over the chosen one's length",
    right_padded,
    "preference_loss",
    row="LOSS-13",
)
def ipo_one_length(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs):
    """lengths = chosen_mask.sum(-1), used for both halves: a long rejected answer looks that much worse. Fix: each half
    has its own lengths."""
    chosen = per_token(ratios(chosen_logprobs, ref_chosen_logprobs), chosen_logprobs)
    rejected = per_token(ratios(rejected_logprobs, ref_rejected_logprobs), chosen_logprobs)
    return ipo(chosen, rejected)


@MUTANTS.add(
    "simpo-mean-over-the-padded-width",
    "SimPO averages over the padded width",
    stop_excluded,
    "preference_loss",
    row="MSK-06",
)
def simpo_padded(chosen_logprobs, rejected_logprobs):
    """logprobs.mean(-1) over a padded tensor of zeros: the score of an answer depends on the longest one of its batch.
    Fix: divide by the mask's sum."""
    halves = (chosen_logprobs, rejected_logprobs)
    return simpo(*[[sum(row) / max(map(len, rows)) for row in rows] for rows in halves])


@MUTANTS.add(
    "simpo-padding-has-a-logprob",
    "Padding has log-probability 1, and is counted",
    stop_excluded,
    "preference_loss",
    row="PAD-09",
)
def simpo_invalid(chosen_logprobs, rejected_logprobs):
    """INVALID_LOGPROB = 1.0 was chosen because no log-probability can be 1, and cancelled in every ratio to a
    reference; SimPO has none. Fix: sum under the mask."""

    def scores(rows):
        width = max(map(len, rows))
        return [(sum(row) + INVALID_LOGPROB * (width - len(row))) / len(row) for row in rows]

    return simpo(scores(chosen_logprobs), scores(rejected_logprobs))


@MUTANTS.add("dpo-upside-down", "DPO prefers the rejected completion", left_padded, "preference_loss")
def dpo_upside_down(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """-log sigmoid(beta * (rejected - chosen)): it falls as nicely as the right one. Fix: chosen - rejected."""
    right = dpo_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings)
    margins = zip(right["chosen_rewards"], right["rejected_rewards"])
    losses = [-log_sigmoid(rejected - chosen) for chosen, rejected in margins]
    return pairs(losses, right["chosen_rewards"], right["rejected_rewards"])


@MUTANTS.add(
    "dpo-log-of-sigmoid", "The logarithm is taken of a sigmoid that is 0", left_padded, "preference_loss"
)
def dpo_log_of_sigmoid(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """torch.log(torch.sigmoid(x)): minus infinity where logsigmoid(x) is x. One pair that the model has very wrong ends
    the run. Fix: logsigmoid."""
    right = dpo_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings)
    chosen, rejected = right["chosen_rewards"], right["rejected_rewards"]
    sigmoids = [math.exp(log_sigmoid(c - r)) for c, r in zip(chosen, rejected)]
    return pairs([-math.log(s) if s > 0 else math.inf for s in sigmoids], chosen, rejected)


@MUTANTS.add(
    "objective-falls-back-to-dpo",
    "An objective whose name is not known is DPO",
    right_padded,
    "preference_loss",
)
def objective_falls_back(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs):
    """if loss_type == "IPO" ... else sigmoid, and the configuration says "ipo": the run is a DPO run with another name.
    Fix: refuse names that are not known."""
    chosen = [IPO_BETA * ratio for ratio in ratios(chosen_logprobs, ref_chosen_logprobs)]
    rejected = [IPO_BETA * ratio for ratio in ratios(rejected_logprobs, ref_rejected_logprobs)]
    return pairs([-log_sigmoid(c - r) for c, r in zip(chosen, rejected)], chosen, rejected)


@MUTANTS.add("dpo-beta-is-not-read", "The beta of a request is not read", left_padded, "preference_loss")
def dpo_fixed_beta(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """beta is in the configuration, and the loss has its own default: every sweep over it compares noise. Fix: hand it
    on."""
    dpo_loss([[0.0]], [[0.0]], [[0.0]], [[0.0]], settings)  # it is checked, at least
    return dpo_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs)


@MUTANTS.add(
    "dpo-swallows-settings", "A setting that does not exist is ignored", left_padded, "preference_loss"
)
def dpo_swallows(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """settings.get("beta", 0.1) and **kwargs for the rest: a misspelt beta is the default beta. Fix: refuse what is not
    known."""
    known = {"beta": (settings or {}).get("beta", BETA)}
    return dpo_loss(chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, known)


@MUTANTS.add(
    "dpo-references-sorted",
    "Log-probabilities of the reference come back sorted by length",
    left_padded,
    "preference_loss",
    row="PAD-08",
)
def dpo_sorted(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """The reference pass ran beforehand over a sorted data set and was read back by position: each pair is compared
    with the reference of another. Fix: join by row."""
    order = sorted(range(len(ref_chosen_logprobs)), key=lambda row: len(ref_chosen_logprobs[row]))
    return dpo_loss(
        chosen_logprobs,
        rejected_logprobs,
        [ref_chosen_logprobs[row] for row in order],
        [ref_rejected_logprobs[row] for row in order],
        settings,
    )


def simpo(chosen, rejected):
    """The right loss of these scores."""
    losses = [-log_sigmoid(SIMPO_BETA * (c - r - SIMPO_GAMMA)) for c, r in zip(chosen, rejected)]
    return pairs(losses, [SIMPO_BETA * c for c in chosen], [SIMPO_BETA * r for r in rejected])


def ipo(chosen, rejected):
    losses = [(c - r - 1 / (2 * IPO_BETA)) ** 2 for c, r in zip(chosen, rejected)]
    return pairs(losses, [IPO_BETA * c for c in chosen], [IPO_BETA * r for r in rejected])
