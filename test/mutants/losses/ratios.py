"""Wrong policy losses that hide: where little is declared, where a ratio is far, where a row is empty."""

import math
from types import SimpleNamespace

from conformance import right_padded
from lossproof.examples import left_padded
from lossproof.examples.left_padded import KL_COEF, k3

from ..registry import MUTANTS
from .policy import clip, maximum, not_clipped, penalised, summed, trained


def declaring(*names):
    """The left-padded example, saying of its semantics only these."""
    said = {name: left_padded.DECLARED["semantics"][name] for name in names}
    declared = dict(left_padded.DECLARED, semantics=said)
    return SimpleNamespace(__name__=left_padded.__name__, OPS=left_padded.OPS, DECLARED=declared)


SILENT = declaring()
WITHOUT_KL = declaring("loss_aggregation", "clip_low", "clip_high")


def clipped(ratio, advantage):
    if ratio * advantage <= clip(ratio) * advantage:
        return -ratio * advantage, -ratio * advantage
    return -clip(ratio) * advantage, 0.0


def all_tokens(mask, rows, micro_batches):
    return sum(map(sum, mask))


def add(name, title, story, token, base=left_padded, **rows):
    wrong = summed(token, trained, all_tokens)
    wrong.__doc__ = story
    MUTANTS.add(name, title, base, "loss", **rows)(wrong)


add(
    "loss-absolute-advantage",
    "Bad answers are reinforced like good ones, and nothing is declared",
    "advantages.abs() was written for a histogram and assigned in place.",
    penalised(lambda ratio, advantage: clipped(ratio, abs(advantage))),
    SILENT,
)
add(
    "loss-only-penalty",
    "Only the KL term is trained, and nothing is declared",
    "The policy term was multiplied by a warm-up factor that stays 0.",
    penalised(lambda ratio, advantage: (0.0, 0.0)),
    SILENT,
)


def far_and_bad(otherwise):
    """Right but for bad answers that have become more than three times likelier."""

    def policy(ratio, advantage):
        return otherwise(ratio, advantage) if advantage < 0 and ratio > 3 else clipped(ratio, advantage)

    return policy


add(
    "loss-far-ratio-dropped",
    "A bad answer that has become three times likelier is left out of the loss",
    "where(ratio < 3, loss, 0) was to keep outliers out of the log; a dual clip keeps 3 |A| of them.",
    penalised(far_and_bad(lambda ratio, advantage: (0.0, 0.0))),
)
add(
    "loss-far-ratio-reversed",
    "A bad answer that has become three times likelier is pushed further",
    "The second bound of the dual clip was written for a maximised objective, and kept its sign.",
    penalised(far_and_bad(lambda ratio, advantage: (ratio * advantage, ratio * advantage))),
)
add(
    "loss-not-clipped-kl-undeclared",
    "The ratio is not clipped, and the KL coefficient is not declared",
    "The clip range is read from the configuration and unused.",
    penalised(not_clipped),
    WITHOUT_KL,
)
add(
    "loss-max-for-min-kl-undeclared",
    "max() stands where min() belongs, and the KL coefficient is not declared",
    "A minus moved inside the minimum and the minimum stayed.",
    penalised(maximum),
    WITHOUT_KL,
    row="PPO-03",
)


def pushed_away(logprob, old_logprob, ref_logprob, advantage):
    value, slope = clipped(math.exp(logprob - old_logprob), advantage)
    return value - KL_COEF * k3(logprob, ref_logprob), slope - KL_COEF * (1 - math.exp(ref_logprob - logprob))


add(
    "loss-kl-sign-undeclared",
    "The KL term is subtracted from the loss, and its coefficient is not declared",
    "pg_loss - beta * kl: the policy is pushed away from the reference.",
    pushed_away,
    WITHOUT_KL,
    row="KL-01",
)


@MUTANTS.add(
    "loss-nan-for-an-empty-row", "A row without trained tokens makes the loss NaN", right_padded, row="NUM-01"
)
def loss(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """(loss * mask).sum(1) / mask.sum(1) is 0/0 for an answer that is masked out whole. Fix: clamp(min=1)."""
    right = right_padded.loss(
        logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches
    )
    if all(map(sum, completion_mask)):
        return right
    return dict(right, loss=math.nan)


@MUTANTS.add(
    "loss-certain-sampler-is-not-there",
    "An old log-probability of 0 is taken for one that is not there",
    left_padded,
    "loss",
)
def certain(logprobs, old_logprobs, ref_logprobs, advantages, completion_mask, micro_batches):
    """old = old or logprob: where the sampler was certain of a token, its ratio is 1 for ever. Fix: `is None`."""
    old = [[q or p for p, q in zip(*row)] for row in zip(logprobs, old_logprobs)]
    return left_padded.loss(logprobs, old, ref_logprobs, advantages, completion_mask, micro_batches)
