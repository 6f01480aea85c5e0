"""Wrong losses on preference pairs."""

import math

from conformance import data_parallel, right_padded
from lossproof.examples import left_padded, stop_excluded
from lossproof.examples.losses import preference_loss
from lossproof.examples.losses.preference_loss import (
    BETA,
    IPO_BETA,
    SIMPO_BETA,
    SIMPO_GAMMA,
    dpo_loss,
    ipo_loss,
    log_sigmoid,
    pairs,
    per_token,
    ratios,
)

from ..registry import MUTANTS

# What stands in a padded table of log-probabilities where there is no token.
INVALID_LOGPROB = 1.0


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


@MUTANTS.add(
    "beta-of-one-half",
    "The setting beta reaches the chosen half only",
    left_padded,
    "preference_loss",
    row="KL-06",
    rows=("KL-09",),
)
def dpo_half_beta(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """The chosen reward was made configurable, the line below it was not. Fix: one beta for both."""
    beta = preference_loss.setting(settings, "beta", preference_loss.BETA)
    chosen = [beta * ratio for ratio in preference_loss.ratios(chosen_logprobs, ref_chosen_logprobs)]
    rejected = [
        preference_loss.BETA * ratio for ratio in preference_loss.ratios(rejected_logprobs, ref_rejected_logprobs)
    ]
    losses = [-preference_loss.log_sigmoid(c - r) for c, r in zip(chosen, rejected)]
    return preference_loss.pairs(losses, chosen, rejected)


@MUTANTS.add(
    "dpo-margin-clamped",
    "The margin of a pair is clamped to 10 before it is scaled",
    left_padded,
    "preference_loss",
    row="NUM-05",
)
def dpo_clamped(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """clamp(-10, 10) was meant for beta * margin, against overflow; a margin is a sum over hundreds of tokens, and pairs
    stop teaching at once. Fix: a log-sigmoid that is stable, and no clamp."""
    right = preference_loss.dpo_loss(
        chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings
    )
    beta = preference_loss.setting(settings, "beta", preference_loss.BETA)
    margins = [(c - r) / beta for c, r in zip(right["chosen_rewards"], right["rejected_rewards"])]
    losses = [-preference_loss.log_sigmoid(beta * min(max(margin, -10.0), 10.0)) for margin in margins]
    return dict(right, losses=losses, loss=sum(losses) / len(losses))


@MUTANTS.add(
    "dpo-first-tokens-only",
    "Only the first twelve tokens of a completion count",
    left_padded,
    "preference_loss",
    row="LOSS-13",
)
def dpo_first_tokens(
    chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs, settings=None
):
    """max_length of the configuration, in the units of another batch, cuts log-probabilities as well as ids. Fix: cut ids
    only."""
    tracks = (chosen_logprobs, rejected_logprobs, ref_chosen_logprobs, ref_rejected_logprobs)
    return preference_loss.dpo_loss(*[[row[:12] for row in rows] for rows in tracks], settings)


def normalised(name, title, story, scored):
    wrong = data_parallel.preference_loss_of(scored)
    wrong.__doc__ = story
    MUTANTS.add(name, title, data_parallel, "preference_loss", row="LOSS-13")(wrong)


normalised(
    "dpo-norm-over-sums",
    "Length-normalised DPO compares sums over tokens",
    "The loss type is read, and average_log_prob is not: with a beta for means the loss is flat after a few steps.",
    lambda ratio, tokens, other: ratio,
)
normalised(
    "dpo-norm-by-the-pair",
    "Length-normalised DPO divides both completions by the tokens of the pair",
    "Chosen and rejected rows stand in one batch, and its mask is summed whole.",
    lambda ratio, tokens, other: ratio / (tokens + other),
)
normalised(
    "dpo-norm-by-the-other",
    "Length-normalised DPO divides each completion by the length of the other",
    "The halves of the concatenated batch are swapped in one place.",
    lambda ratio, tokens, other: ratio / other,
)
normalised(
    "dpo-norm-by-one-token-more",
    "Length-normalised DPO divides by the tokens before the shift",
    "The mask is summed with its first column: short answers weigh less than they should.",
    lambda ratio, tokens, other: ratio / (tokens + 1),
)
