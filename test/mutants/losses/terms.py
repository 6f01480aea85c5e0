"""Wrong losses of a trainer on several ranks: denominators, terms that point the wrong way, settings that are
read and never used."""

import math
from dataclasses import replace

from conformance import data_parallel
from conformance.data_parallel import Settings, configured, count, loss_of, penalty, surrogate

from ..registry import MUTANTS


def add(op, name, title, story, wrong, row="", **more):
    wrong.__doc__ = story
    MUTANTS.add(name, title, data_parallel, op, row=row, **more)(wrong)


def rank_tokens(mask, rank, ranks):
    return count([mask[b] for b in rank])


add(
    "loss",
    "ranks-average-their-means",
    "Each rank divides by its own tokens, and the ranks are averaged",
    "DistributedDataParallel averages gradients, so the loss was left a local mean: a rank with short rows counts too much.",
    loss_of(denominator=lambda mask, rank, ranks: rank_tokens(mask, rank, ranks) * len(ranks)),
    "LOSS-02",
)
add(
    "loss",
    "world-size-twice",
    "The loss is multiplied by the number of ranks to undo an average that is not taken",
    "loss * world_size was right while gradients were averaged; the new reducer sums.",
    loss_of(over_ranks=lambda parts: sum(parts) * len(parts)),
    "LOSS-08",
)
add(
    "loss",
    "last-micro-batch-only",
    "Gradients of all micro-batches but the last are thrown away",
    "zero_grad stands inside the accumulation loop; the logged loss is that of the whole batch.",
    loss_of(accumulated=False),
    "LOSS-12",
)


def mean_of_rank_means(logprobs, old_logprobs, mask, ranks):
    means = []
    for rank in ranks:
        values = [
            old_logprobs[b][t] - logprobs[b][t] for b in rank for t, on in enumerate(mask[b]) if on
        ]
        means.append(sum(values) / max(len(values), 1))
    return sum(means) / len(means)


add(
    "loss",
    "metric-is-a-mean-of-rank-means",
    "The logged KL is the mean over ranks of their token means",
    "all_reduce(mean) of a local masked mean: right for the loss only when every rank has as many tokens.",
    loss_of(approx_kl=mean_of_rank_means),
    "LOSS-09",
)


def clamped_metric(logprobs, old_logprobs, mask, ranks):
    values = [
        min(max(o - p, -0.25), 0.25)
        for row in zip(logprobs, old_logprobs, mask)
        for p, o, on in zip(*row)
        if on
    ]
    return sum(values) / max(len(values), 1)


add(
    "loss",
    "metric-of-the-clamped-ratio",
    "The logged KL is taken from log-ratios after their clamp",
    "The clamp that keeps exp finite was moved up, and the metric below it now never shows a policy that runs away.",
    loss_of(approx_kl=clamped_metric),
    "PPO-06",
)
def dual_clip_too_tight(logprob, old_logprob, advantage, s):
    return surrogate(logprob, old_logprob, advantage, replace(s, dual_clip=1.0))


def dual_clip_for_good_answers(logprob, old_logprob, advantage, s):
    """min(value, dual_clip * A) without asking for the sign."""
    value, slope = surrogate(logprob, old_logprob, advantage, replace(s, dual_clip=math.inf))
    bound = -s.dual_clip * advantage
    return (bound, 0.0) if advantage != 0 and value > bound else (value, slope)


add(
    "loss",
    "dual-clip-for-good-answers",
    "The dual clip is applied whatever the sign of the advantage",
    "torch.min(loss, -dual_clip * advantages) without the where: good answers are rewarded for nothing at all.",
    loss_of(surrogate=dual_clip_for_good_answers),
    "PPO-01",
)
add(
    "loss",
    "dual-clip-below-one",
    "The dual clip's constant is 1: no bad answer that became likelier is corrected",
    "The constant was read as a distance from 1, like the other two.",
    loss_of(surrogate=dual_clip_too_tight),
    rows=("PPO-01",),
)


def unclamped(logprob, old_logprob, advantage, s):
    try:
        return surrogate(logprob, old_logprob, advantage, replace(s, log_ratio_clamp=math.inf))
    except OverflowError:
        return math.inf, math.nan


add(
    "loss",
    "ratio-overflows",
    "exp of the log-ratio is not guarded",
    "The clamp is in the configuration and nowhere else: one token that the sampler gave up on is an infinite ratio.",
    loss_of(surrogate=unclamped),
    "NUM-05",
)
add(
    "loss",
    "kl-coef-is-not-read",
    "The KL coefficient of the configuration is never used",
    "The default is bound when the function is defined.",
    loss_of(penalty=lambda logprob, ref, s: penalty(logprob, ref, Settings())),
    "KL-09",
)
add(
    "loss",
    "kl-twice",
    "The KL coefficient stands in the loss twice",
    "KL in the loss was added while KL in the reward had already been folded into it.",
    loss_of(penalty=lambda logprob, ref, s: tuple(2 * x for x in penalty(logprob, ref, s))),
    "KL-10",
)


def swallowing(settings, known=Settings):
    fields = known.__dataclass_fields__
    return configured({k: v for k, v in (settings or {}).items() if k in fields}, known)


add(
    "loss",
    "misspelt-settings-are-swallowed",
    "A setting that does not exist is ignored",
    "**kwargs: the option was misspelt in the launcher, and the default stayed.",
    loss_of(configured=swallowing),
    rows=("TPL-02",),
)
add(
    "loss",
    "kl-without-gradient",
    "The KL term is computed without gradient",
    "torch.no_grad() around the reference pass was stretched over the KL.",
    loss_of(penalty=lambda logprob, ref, s: (penalty(logprob, ref, s)[0], 0.0)),
    "KL-04",
)
add(
    "loss",
    "k1-as-a-loss",
    "The KL in the loss is k1, whose gradient does not know the reference",
    "logp - ref was copied from the reward, where it belongs: as a loss, its gradient is a constant.",
    loss_of(penalty=lambda logprob, ref, s: (s.kl_coef * (logprob - ref), s.kl_coef)),
    "KL-02",
)


def mean_over_all_rows(mask, rank, ranks):
    """Every row counts as if it had tokens."""
    filled = max(sum(1 for row in mask if any(row)), 1)
    return count(mask) * len(mask) / filled


add(
    "loss",
    "filler-rows-count",
    "Rows that only fill up the batch count in the denominator",
    "The batch was padded to a multiple of the ranks, and its size taken afterwards.",
    loss_of(denominator=mean_over_all_rows),
    "PAD-11",
)
