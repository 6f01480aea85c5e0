"""Wrong losses of numbers that are rarely drawn: tokens that are very unlikely, advantages that are large."""

import math
from struct import pack, unpack

from lossproof.examples import left_padded
from lossproof.examples.losses.reward_loss import pairwise_loss

from ..registry import MUTANTS
from ..without_nan import nanmean_of


@MUTANTS.add("loss-log-probs-have-a-floor", "Log-probabilities below -10 count as -10", left_padded, "loss")
def loss_floor(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """clamp(min=-10) against infinities of masked vocabularies: a token that both policies find unlikely has ratio 1 and no
    gradient, whatever it was worth. Fix: mask what is masked."""

    def kept(rows):
        return [[max(value, -10.0) for value in row] for row in rows]

    tracks = [kept(rows) for rows in (logprobs, old_logprobs, ref_logprobs)]
    return left_padded.loss(*tracks, advantages, completion_mask, micro_batches)


@MUTANTS.add("loss-clips-advantages", "The loss clips advantages to 5", left_padded, "loss", row="ADV-12")
def loss_clipped(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """A clamp that was meant for whitened advantages stayed when whitening went: rewards of a task that counts in tens are all
    alike. Fix: declare it, and log how many it met."""
    clipped = [min(max(value, -5.0), 5.0) for value in advantages]
    return left_padded.loss(logprobs, old_logprobs, ref_logprobs, clipped, completion_mask, micro_batches)


@MUTANTS.add("reward-loss-has-a-floor", "No pair costs more than 18", left_padded, "reward_loss", row="NUM-05")
def floored(chosen_scores, rejected_scores, margins=None):
    """-log(sigmoid(x) + 1e-8): the pairs that the model has most wrong have no gradient. Fix: logsigmoid."""
    right = pairwise_loss(chosen_scores, rejected_scores, margins)
    losses = [-math.log(math.exp(-value) + 1e-8) for value in right["losses"]]
    return dict(right, loss=sum(losses) / len(losses), losses=losses)


@MUTANTS.add("loss-rounds-advantages", "Advantages are kept in half precision", left_padded, "loss", row="NUM-03")
def loss_half(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """The batch is moved to the device in one dtype. Fix: float32 for what is no weight."""
    half = [unpack("e", pack("e", value))[0] for value in advantages]
    return left_padded.loss(logprobs, old_logprobs, ref_logprobs, half, completion_mask, micro_batches)


nanmean_of("preference_loss", "The mean over pairs leaves out those of NaN")
nanmean_of("reward_loss", "The mean over scored pairs leaves out those of NaN")
