"""Wrong log-probabilities, KL and advantages."""

import math

from .. import left_padded
from ..left_padded import count, k3, members
from ..rows import beside, log_softmax, pad_left, pad_right
from ..toy_model import WIDTH, log_prob, step
from . import MUTANTS


def shifted(back):
    """A logprobs op that reads the logits `back` positions before the token (right: 1)."""

    def logprobs(input_ids, logits, prompt_width, temperature):
        out = []
        for ids, rows in zip(input_ids, logits):
            columns = range(prompt_width, len(ids))
            out.append(
                [log_softmax([z / temperature for z in rows[max(t - back, 0)]], ids[t]) for t in columns]
            )
        return {"logprobs": out}

    logprobs.__doc__ = "log_softmax(logits[t - %d])[token t]; logits at t predict token t + 1." % back
    return logprobs


MUTANTS.add(
    "logprobs-not-shifted",
    "Each token is scored under the logits behind it",
    left_padded,
    "logprobs",
    row="LP-01",
)(shifted(0))
MUTANTS.add(
    "logprobs-shifted-twice", "Each token is scored two positions late", left_padded, "logprobs", row="LP-01"
)(shifted(2))


@MUTANTS.add(
    "logprobs-ignore-temperature", "Scoring ignores the sampling temperature", left_padded, row="LP-05"
)
def logprobs(input_ids, logits, prompt_width):
    """Sampled at 1.2 and scored at 1: the ratio is not 1 before the first step."""
    return left_padded.logprobs(input_ids, logits, prompt_width, 1.0)


@MUTANTS.add(
    "logprobs-multiply-temperature",
    "Scoring multiplies by the temperature",
    left_padded,
    "logprobs",
    row="LP-05",
)
def logprobs_multiplied(input_ids, logits, prompt_width, temperature):
    """Softer where it should be sharper; invisible at temperature 1."""
    return left_padded.logprobs(input_ids, logits, prompt_width, 1 / temperature)


def scored(prompt_ids, completion_ids, score_row):
    """The right batch, every row through a wrong `score_row(ids, real)`."""
    prompts, prompt_real = pad_left(prompt_ids, left_padded.PAD_ID)
    completions, real = pad_right(completion_ids, left_padded.PAD_ID)
    rows = [score_row(*row) for row in zip(beside(prompts, completions), beside(prompt_real, real))]
    width = len(prompts[0])
    return {"logprobs": [row[width : width + len(ids)] for row, ids in zip(rows, completion_ids)]}


@MUTANTS.add(
    "score-counts-padding-positions", "Positions count the padding on the left", left_padded, row="PAD-05"
)
def score(prompt_ids, completion_ids):
    """position_ids were left to the model's default, range(T): a row's scores depend on its longest mate."""

    def row(ids, real):
        state, out = [0.0] * WIDTH, []
        for column, id in enumerate(ids):
            out.append(log_prob(state, id))
            if real[column]:
                state = step(state, id, column)
        return out

    return scored(prompt_ids, completion_ids, row)


@MUTANTS.add("score-attends-padding", "The model reads the padding", left_padded, "score", row="LP-16")
def score_padding(prompt_ids, completion_ids):
    """attention_mask was not passed to the model."""

    def row(ids, real):
        state, position, out = [0.0] * WIDTH, 0, []
        for id, is_real in zip(ids, real):
            out.append(log_prob(state, id))
            state = step(state, id, position)
            position += is_real
        return out

    return scored(prompt_ids, completion_ids, row)


@MUTANTS.add(
    "score-leaks-between-rows",
    "A row starts from the state that the row before it left",
    left_padded,
    "score",
)
def score_leaky(prompt_ids, completion_ids):
    """The cache is not reset between rows, so scores depend on batch mates."""
    state = [0.0] * WIDTH

    def row(ids, real):
        nonlocal state
        position, out = 0, []
        for id, is_real in zip(ids, real):
            out.append(log_prob(state, id))
            if is_real:
                state = step(state, id, position)
                position += 1
        return out

    return scored(prompt_ids, completion_ids, row)


def estimated(estimate):
    """A kl op that is right but for `estimate(logprob, ref_logprob)`."""

    def kl(logprobs, ref_logprobs, completion_mask):
        rows = [
            [estimate(p, q) if on else 0.0 for p, q, on in zip(*row)]
            for row in zip(logprobs, ref_logprobs, completion_mask)
        ]
        return {"kl": rows, "mean_kl": sum(map(sum, rows)) / max(count(completion_mask), 1)}

    kl.__doc__ = estimate.__doc__
    return kl


def without_one(p, q):
    """exp(d) - d, its - 1 forgotten: the gradient is right, and the logged KL is 1 where nothing has moved."""
    return k3(p, q) + 1


def reversed_k3(p, q):
    """exp(logprob - ref) where exp(ref - logprob) belongs: an estimate of something else, with another gradient."""
    return k3(q, p)


def k1(p, q):
    """logprob - ref is declared as k3: its gradient as a loss is zero in expectation."""
    return p - q


def absolute(p, q):
    """|logprob - ref|: an estimator that exists in one code base and is declared as k3."""
    return abs(p - q)


MUTANTS.add("kl-reversed", "KL has the sign of d reversed", left_padded, "kl", row="KL-03")(
    estimated(reversed_k3)
)
MUTANTS.add("kl-k1-declared-k3", "KL is k1, declared as k3", left_padded, "kl", row="KL-02", rows=("KL-06",))(
    estimated(k1)
)
MUTANTS.add("kl-forgets-the-one", "KL is exp(d) - d, without its - 1", left_padded, "kl")(
    estimated(without_one)
)
MUTANTS.add("kl-absolute", "KL is the absolute difference, declared as k3", left_padded, "kl", row="KL-06")(
    estimated(absolute)
)


@MUTANTS.add("kl-mean-over-padding", "Masked tokens leak into the mean KL", left_padded, row="KL-08")
def kl(logprobs, ref_logprobs, completion_mask):
    """kl.mean() instead of the masked mean: prompts, tools and padding count."""
    rows = [[k3(p, q) for p, q in zip(*row)] for row in zip(logprobs, ref_logprobs)]
    size = max(sum(map(len, rows)), 1)
    return {"kl": rows, "mean_kl": sum(map(sum, rows)) / size}


@MUTANTS.add(
    "kl-mean-over-all-columns", "The masked KL is divided by all columns", left_padded, "kl", row="LOSS-11"
)
def kl_all_columns(logprobs, ref_logprobs, completion_mask):
    """(kl * mask).mean(): the tokens are right, and the mean that is logged, and that steers the coefficient, shrinks
    with every column of padding. Fix: divide by mask.sum()."""
    right = left_padded.kl(logprobs, ref_logprobs, completion_mask)
    size = max(sum(map(len, completion_mask)), 1)
    return dict(right, mean_kl=sum(map(sum, right["kl"])) / size)


@MUTANTS.add(
    "kl-nan-under-the-mask",
    "NaN under a 0 of the mask reaches the mean KL",
    left_padded,
    "kl",
    row="NUM-06",
    rows=("NUM-02",),
)
def kl_nan(logprobs, ref_logprobs, completion_mask):
    """(kl * mask).sum(): zero times NaN is NaN, and so is infinity minus infinity, which is what log-probabilities of
    masked logits differ by. Fix: select with where() before the sum."""
    right = left_padded.kl(logprobs, ref_logprobs, completion_mask)
    total = sum(
        on * (k3(p, q) if on else q - p)
        for row in zip(logprobs, ref_logprobs, completion_mask)
        for p, q, on in zip(*row)
    )
    return dict(right, mean_kl=total / max(count(completion_mask), 1))


def normalised(formula):
    """An advantages op of `formula(reward, its group, all rewards)`."""

    def advantages(rewards, group_ids):
        return {
            "advantages": [
                formula(r, members(rewards, group_ids, g), rewards) for r, g in zip(rewards, group_ids)
            ]
        }

    advantages.__doc__ = formula.__doc__
    return advantages


def deviation(values, ddof=1):
    mean = sum(values) / len(values)
    return math.sqrt(sum((v - mean) ** 2 for v in values) / max(len(values) - ddof, 1))


def over_batch(reward, group, rewards):
    """Mean and deviation of the whole batch: easy prompts are rewarded, hard ones punished."""
    return left_padded.advantage(reward, rewards)


def other_ddof(reward, group, rewards):
    """torch.std and numpy.std differ in ddof; declared is one, computed the other."""
    return (reward - sum(group) / len(group)) / (deviation(group, 0) + left_padded.EPSILON)


def not_centred(reward, group, rewards):
    """The group mean is not subtracted: every answer with a positive reward is reinforced."""
    return reward / (deviation(group) + left_padded.EPSILON)


def exploding(reward, group, rewards):
    """No epsilon: 0/0 is NaN, and one lucky group ends the training."""
    std = deviation(group)
    return (reward - sum(group) / len(group)) / std if std else float("nan")


def small_is_none(reward, group, rewards):
    """`if std < 0.1: skip` was meant for groups without any spread, and skips every prompt that is almost solved."""
    return 0.0 if deviation(group) < 0.1 else left_padded.advantage(reward, group)


def leave_one_out(reward, group, rewards):
    """The baseline of RLOO under the name of the group mean: every step is G / (G - 1) times the configured one."""
    return left_padded.advantage(reward, group) * len(group) / max(len(group) - 1, 1)


for name, title, formula, rows in (
    (
        "advantages-small-spread-is-none",
        "Groups that differ by little count as equal",
        small_is_none,
        ["ADV-05"],
    ),
    (
        "advantages-leave-one-out",
        "The baseline leaves the row itself out, declared is the mean",
        leave_one_out,
        [],
    ),
    (
        "advantages-over-the-batch",
        "Advantages are normalised over the batch, declared over the group",
        over_batch,
        ["ADV-03", "ADV-02"],
    ),
    ("advantages-other-ddof", "The standard deviation has another ddof than declared", other_ddof, []),
    ("advantages-not-centred", "Rewards are scaled but not centred", not_centred, []),
    ("advantages-nan-without-spread", "Equal rewards give NaN", exploding, ["ADV-05"]),
):
    MUTANTS.add(name, title, left_padded, "advantages", row="".join(rows[:1]), rows=rows[1:])(
        normalised(formula)
    )


@MUTANTS.add(
    "advantages-repeat-for-interleave",
    "Rows are grouped as by repeat, but lie as by repeat_interleave",
    left_padded,
    row="ADV-04",
)
def advantages(rewards, group_ids):
    """view(-1, G) over rows that are not in that order: every group is made of other prompts' answers."""
    groups = len(set(group_ids))
    return left_padded.advantages(rewards, [row % groups for row in range(len(rewards))])


@MUTANTS.add(
    "advantages-running-mean", "The baseline is the mean of the rewards so far", left_padded, "advantages"
)
def advantages_running(rewards, group_ids):
    """The group's statistics are updated in the loop that already uses them: the first answer of every prompt has
    advantage 0, and the order of the rows decides about the others. Fix: statistics first, advantages second."""
    out = []
    for row, (reward, group) in enumerate(zip(rewards, group_ids)):
        seen = members(rewards[: row + 1], group_ids[: row + 1], group)
        out.append(left_padded.advantage(reward, seen))
    return {"advantages": out}
