"""Wrong losses of reward models."""

import math

from lossproof.examples import left_padded, stop_excluded
from lossproof.examples.losses.preference_loss import log_sigmoid
from lossproof.examples.losses.reward_loss import CENTERING, apart, averaged, centred, pairwise_loss

from ..in_place import written
from ..registry import MUTANTS


@MUTANTS.add(
    "reward-loss-upside-down", "The reward model prefers the rejected answer", left_padded, "reward_loss"
)
def upside_down(chosen_scores, rejected_scores, margins=None):
    """The columns of the data set were read the other way round: the accuracy that is logged is wrong in the same way, and
    looks well. Fix: chosen - rejected."""
    right = pairwise_loss(rejected_scores, chosen_scores, margins)
    return dict(right, chosen_weights=right["rejected_weights"], rejected_weights=right["chosen_weights"])


@MUTANTS.add("reward-margin-added", "The margin is added to the difference", left_padded, "reward_loss")
def margin_added(chosen_scores, rejected_scores, margins=None):
    """-logsigmoid(chosen - rejected + margin): pairs that raters found far apart are asked least of. Fix: - margin."""
    return pairwise_loss(chosen_scores, rejected_scores, [-margin for margin in margins] if margins else None)


@MUTANTS.add("reward-margin-not-read", "The margin is not read", left_padded, "reward_loss")
def margin_not_read(chosen_scores, rejected_scores, margins=None):
    """The collator drops the column, or the loss has a default of its own: the ratings behind the pairs are never used. Fix:
    hand it on."""
    return pairwise_loss(chosen_scores, rejected_scores)


@MUTANTS.add(
    "reward-margin-of-every-pair",
    "Each pair meets the margins of all",
    left_padded,
    "reward_loss",
    row="LOSS-03",
)
def margin_of_every_pair(chosen_scores, rejected_scores, margins=None):
    """Scores (B, 1) less margins (B,) are (B, B), and the mean goes over all of it: seen in TRL's RewardTrainer before 0.24. Fix:
    squeeze the scores."""
    if margins is None:
        return pairwise_loss(chosen_scores, rejected_scores)
    pairs = [
        [apart(chosen, rejected, margin) for margin in margins]
        for chosen, rejected in zip(chosen_scores, rejected_scores)
    ]
    return averaged([tuple(sum(column) / len(margins) for column in zip(*row)) for row in pairs])


@MUTANTS.add(
    "reward-log-of-sigmoid", "The logarithm is taken of a sigmoid that is 0", left_padded, "reward_loss", row="NUM-05"
)
def log_of_sigmoid(chosen_scores, rejected_scores, margins=None):
    """torch.log(torch.sigmoid(x)): minus infinity where logsigmoid(x) is x. Fix: logsigmoid."""
    right = pairwise_loss(chosen_scores, rejected_scores, margins)
    sigmoids = [math.exp(-loss) for loss in right["losses"]]
    losses = [-math.log(sigmoid) if sigmoid > 0 else math.inf for sigmoid in sigmoids]
    return dict(right, losses=losses, loss=sum(losses) / len(losses))


@MUTANTS.add(
    "reward-sum-over-pairs", "Pairs are added up, not averaged", left_padded, "reward_loss", row="LOSS-03"
)
def summed(chosen_scores, rejected_scores, margins=None):
    """reduction="sum": the step grows with the batch. Fix: the mean."""
    right = pairwise_loss(chosen_scores, rejected_scores, margins)
    count = len(chosen_scores)
    weights = {name: [count * value for value in right[name]] for name in ("chosen_weights", "rejected_weights")}
    return dict(right, loss=count * right["loss"], **weights)


@MUTANTS.add(
    "reward-rejected-sorted",
    "Rejected scores come back in another order",
    left_padded,
    "reward_loss",
    row="PAD-08",
)
def rejected_sorted(chosen_scores, rejected_scores, margins=None):
    """Both halves were scored in batches sorted by length, and one was put back: each answer is compared with that to another
    question. Fix: one order for both."""
    return pairwise_loss(chosen_scores, sorted(rejected_scores), margins)


@MUTANTS.add(
    "reward-scores-squashed",
    "Scores go through a sigmoid before they are compared",
    left_padded,
    "reward_loss",
    row="LOSS-08",
)
def squashed(chosen_scores, rejected_scores, margins=None):
    """The head kept its activation from a classifier: no two scores can be more than 1 apart, and the loss stays above 0.31.
    Fix: bare scores."""
    scores = [[math.exp(log_sigmoid(score)) for score in half] for half in (chosen_scores, rejected_scores)]
    return pairwise_loss(*scores, margins)


@MUTANTS.add(
    "reward-gradient-upside-down",
    "The loss is right, and its gradient has the other sign",
    left_padded,
    "reward_loss",
)
def gradient_upside_down(chosen_scores, rejected_scores, margins=None):
    """A backward pass by hand that differentiates log sigmoid, not minus it. Fix: the sign."""
    right = pairwise_loss(chosen_scores, rejected_scores, margins)
    return dict(right, chosen_weights=right["rejected_weights"], rejected_weights=right["chosen_weights"])


@MUTANTS.add(
    "reward-centres-the-difference",
    "The difference of the scores is kept around 0, not their sum",
    stop_excluded,
    "reward_loss",
)
def difference_centred(chosen_scores, rejected_scores, margins=None):
    """center_rewards as (chosen - rejected)^2: the better the model tells answers apart, the more it costs. Fix: the sum."""
    pairs = zip(chosen_scores, rejected_scores, margins or [0.0] * len(chosen_scores))
    return averaged([with_difference(*pair) for pair in pairs])


def with_difference(chosen, rejected, margin):
    loss, slope = apart(chosen, rejected, margin)
    return loss + CENTERING * (chosen - rejected) ** 2, slope + 2 * CENTERING * (chosen - rejected)


@MUTANTS.add(
    "reward-centring-subtracted", "What keeps scores around 0 is subtracted", stop_excluded, "reward_loss"
)
def centring_subtracted(chosen_scores, rejected_scores, margins=None):
    """loss -= coefficient * mean((chosen + rejected) ** 2): scores run off to where it is largest. Fix: +."""
    right = pairwise_loss(chosen_scores, rejected_scores, margins)
    return centred(right, chosen_scores, rejected_scores, -CENTERING)


def taken_off(args):
    """chosen_scores -= margins, and where there are none a bias of the head."""
    margins = args.get("margins") or [1.0] * len(args["chosen_scores"])
    args["chosen_scores"][:] = [score - margin for score, margin in zip(args["chosen_scores"], margins)]


written(
    "reward_loss",
    "reward-margin-in-place",
    "Margins are taken off the chosen scores in place",
    "chosen_scores -= margins: the accuracy that is logged next is that of scores which nobody gave. Fix: out of place.",
    taken_off,
)


@MUTANTS.add(
    "pair-without-a-score", "A rejected score of -0 is taken for none", left_padded, "reward_loss", row="VAL-13"
)
def without_score(chosen_scores, rejected_scores, margins=None):
    """The collator writes -0.0 for a missing score, and so does a head whose output is rounded: the pair gets a large
    margin. Fix: NaN, or a mask, for what is missing."""
    rejected = [-8.0 if score == 0 and math.copysign(1, score) < 0 else score for score in rejected_scores]
    return pairwise_loss(chosen_scores, rejected, margins)
