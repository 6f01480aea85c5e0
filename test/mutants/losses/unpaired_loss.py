"""Wrong losses of completions that are labelled one by one."""

import math

from lossproof.examples import left_padded, stop_excluded
from lossproof.examples.losses.preference_loss import log_sigmoid, ratios
from lossproof.examples.losses.unpaired_loss import (
    APO_BETA,
    BETA,
    UNDESIRABLE_WEIGHT,
    averaged,
    estimate,
    kto_loss,
    unpaired_loss,
)

from ..in_place import written
from ..registry import MUTANTS

OP = "unpaired_preference_loss"


def flipped(desirable):
    return [1 - kind for kind in desirable]


def with_kl(logprobs, ref_logprobs, desirable, kl_logprobs, kl):
    """The right loss under this KL, and of log-ratios less each kind's own where it is a pair (desirable, undesirable)."""
    kls = kl if isinstance(kl, tuple) else (kl, kl)
    rows = []
    for ratio, good in zip(ratios(logprobs, ref_logprobs), desirable):
        sign, weight = (1, 1.0) if good else (-1, UNDESIRABLE_WEIGHT)
        rows.append((weight, sign * BETA, sign * BETA * (ratio - kls[0 if good else 1])))
    return averaged(rows, logprobs, kl_logprobs, kls[0])


@MUTANTS.add("kto-label-inverted", "Desirable rows are taken for undesirable ones", left_padded, OP)
def label_inverted(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """A column "label" that is True for what users disliked, or `~` on the wrong mask: the model learns what was marked as bad.
    Fix: 1 is desirable."""
    return kto_loss(logprobs, ref_logprobs, flipped(desirable), kl_logprobs, ref_kl_logprobs)


@MUTANTS.add("kto-sign-turned", "The log-ratio is reference less policy", left_padded, OP)
def sign_turned(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """ref_logps - policy_logps, as a KL is often written: desirable rows get less likely. Fix: policy - reference."""
    return kto_loss(ref_logprobs, logprobs, desirable, kl_logprobs, ref_kl_logprobs)


@MUTANTS.add("kto-gradient-upside-down", "The loss is right, and its gradient has the other sign", left_padded, OP)
def gradient_upside_down(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """A backward pass by hand, of sigmoid and not of 1 - sigmoid. Fix: the sign."""
    right = kto_loss(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs)
    return dict(right, weights=[[-weight for weight in row] for row in right["weights"]])


@MUTANTS.add("kto-weights-swapped", "Each kind of rows has the weight of the other", left_padded, OP)
def weights_swapped(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """cat((undesirable_weight * chosen, desirable_weight * rejected)): the correction for rare labels makes them rarer. Fix:
    each its own."""
    swapped = unpaired_loss("kto", BETA, UNDESIRABLE_WEIGHT, 1.0)
    return swapped(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs)


@MUTANTS.add("kto-kl-not-clamped", "The KL may be below 0", left_padded, OP)
def kl_not_clamped(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """.clamp(min=0) was lost: the estimate of few rows is below 0 half of the time. Fix: clamp."""
    found = list(ratios(kl_logprobs, ref_kl_logprobs))
    return with_kl(logprobs, ref_logprobs, desirable, kl_logprobs, sum(found) / len(found))


@MUTANTS.add("kto-kl-clamped-row-by-row", "Log-ratios are clamped before they are averaged", left_padded, OP)
def kl_clamped_by_row(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """.clamp(min=0).mean(): an estimate that is never small, as if the policy were always far off. Fix: .mean().clamp(min=0)."""
    found = [max(0.0, ratio) for ratio in ratios(kl_logprobs, ref_kl_logprobs)]
    return with_kl(logprobs, ref_logprobs, desirable, kl_logprobs, sum(found) / len(found))


@MUTANTS.add("kto-kl-differentiated", "The KL is trained through", left_padded, OP)
def kl_differentiated(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """The forward pass of the mismatched rows ran with gradients and .detach() was lost: answers to other questions are trained
    up. Fix: no_grad."""
    right = kto_loss(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs)
    if right["kl"] == 0:
        return right
    slope = -sum(row[0] for row in right["weights"]) / len(kl_logprobs)
    return dict(right, kl_weights=[[slope] * len(row) for row in kl_logprobs])


@MUTANTS.add("kto-kl-of-matched-rows", "The KL is estimated from the rows themselves", left_padded, OP, row="KTO-01")
def kl_matched(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """The batch's own completions where mismatched ones belong, as with a batch of one: the KL is the reward, and cancels it.
    Fix: completions of other rows."""
    return with_kl(logprobs, ref_logprobs, desirable, kl_logprobs, estimate(logprobs, ref_logprobs))


@MUTANTS.add("kto-kl-added-to-undesirable", "The KL is added for undesirable rows", left_padded, OP)
def kl_added(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """1 - sigmoid(-beta * (ratio + kl)): the two kinds are measured from different points. Fix: kl - ratio."""
    kl = estimate(kl_logprobs, ref_kl_logprobs)
    return with_kl(logprobs, ref_logprobs, desirable, kl_logprobs, (kl, -kl))


@MUTANTS.add("kto-beta-outside", "Beta is outside of the sigmoid", left_padded, OP)
def beta_outside(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """beta * (1 - sigmoid(ratio - kl)): it scales the step, and the sigmoid is flat a nat from the reference. Fix: inside."""
    wide = unpaired_loss("kto", 1.0, BETA, BETA * UNDESIRABLE_WEIGHT)
    return wide(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs)


@MUTANTS.add("kto-without-reference", "The reference is not read", left_padded, OP)
def without_reference(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """use_ref_model=False by default in the fused loss: short answers, whose log-probability is high, are good ones. Fix: hand the
    reference on."""
    nothing = [[0.0] * len(row) for row in logprobs]
    return kto_loss(logprobs, nothing, desirable, kl_logprobs, ref_kl_logprobs)


@MUTANTS.add("kto-over-means", "Log-ratios are means over tokens", left_padded, OP, row="LOSS-13")
def over_means(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """average_log_prob=True: with beta 0.1 all rows lie at one half, and a long answer counts no more than a word. Fix: sum."""
    rows = (logprobs, ref_logprobs, kl_logprobs, ref_kl_logprobs)
    one, ref, kl, ref_kl = ([[sum(row) / len(row)] for row in each] for each in rows)
    found = kto_loss(one, ref, desirable, kl, ref_kl)
    return dict(
        found,
        weights=[[slope / len(row)] * len(row) for (slope,), row in zip(found["weights"], logprobs)],
        kl_weights=[[0.0] * len(row) for row in kl_logprobs],
    )


@MUTANTS.add("kto-mean-of-each-kind", "Each kind of rows is averaged by itself", left_padded, OP, row="LOSS-03")
def mean_of_each_kind(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """chosen.mean() + rejected.mean(), 0 where there is none: the one bad answer among nine weighs as all of them. Fix: one mean
    over all rows."""
    right = kto_loss(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs)
    counts = [desirable.count(kind) for kind in desirable]
    shares = [len(desirable) / count for count in counts]
    return dict(
        right,
        loss=sum(loss / count for loss, count in zip(right["losses"], counts)),
        weights=[[share * weight for weight in row] for share, row in zip(shares, right["weights"])],
    )


@MUTANTS.add("kto-one-side-alone", "Only desirable rows are averaged", left_padded, OP, row="LOSS-03")
def one_side_alone(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """The rejected half falls out of the concatenation: nothing is learnt from what users disliked. Fix: both halves."""
    right = kto_loss(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs)
    kept = [loss if kind else 0.0 for loss, kind in zip(right["losses"], desirable)]
    return dict(
        right,
        loss=sum(kept) / len(kept),
        losses=kept,
        weights=[row if kind else [0.0] * len(row) for row, kind in zip(right["weights"], desirable)],
    )


@MUTANTS.add("kto-summed-over-rows", "Rows are added up, not averaged", left_padded, OP, row="LOSS-03")
def summed(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """losses.sum(): the step grows with the batch. Fix: the mean."""
    right = kto_loss(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs)
    count = len(desirable)
    return dict(
        right,
        loss=count * right["loss"],
        weights=[[count * weight for weight in row] for row in right["weights"]],
    )


@MUTANTS.add("kto-nan-without-undesirable-rows", "A batch of one kind is NaN", left_padded, OP, row="KTO-02")
def nan_of_one_kind(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """(chosen.mean() * n + rejected.mean() * m) / (n + m): 0 times the mean of nothing. Small batches have one kind by chance. Fix:
    sum the halves, divide once."""
    right = kto_loss(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs)
    return right if len(set(desirable)) > 1 else dict(right, loss=math.nan)


@MUTANTS.add("kto-references-sorted", "Log-probabilities of the reference come back in another order", left_padded, OP, row="PAD-08")
def references_sorted(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """Both kinds were scored apart, and concatenated: references stand desirable rows first, the policy's as in the batch. Fix: one
    order for both."""
    order = sorted(range(len(desirable)), key=lambda row: -desirable[row])
    references = [ref_logprobs[row] for row in order]
    return kto_loss(logprobs, references, desirable, kl_logprobs, ref_kl_logprobs)


@MUTANTS.add("apo-zero-less-the-kl", "APO-zero subtracts a KL", stop_excluded, OP)
def apo_zero_less_kl(logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs):
    """The name of the objective is not known to the loss, which is KTO then: its zero point moves with the batch. Fix: refuse names
    that are not known."""
    return unpaired_loss("kto", APO_BETA, 1.0, 1.0)(
        logprobs, ref_logprobs, desirable, kl_logprobs, ref_kl_logprobs
    )


@MUTANTS.add("apo-zero-as-log-sigmoid", "The losses of APO-zero are logarithms", stop_excluded, OP)
def apo_zero_logs(logprobs, ref_logprobs, desirable):
    """-logsigmoid as in DPO: what is bounded so that bad labels count little is not any more. Fix: 1 - sigmoid."""
    losses = [
        -log_sigmoid(APO_BETA * ratio * (1 if good else -1))
        for ratio, good in zip(ratios(logprobs, ref_logprobs), desirable)
    ]
    return {"loss": sum(losses) / len(losses), "losses": losses}


def reference_taken_off(args):
    """logprobs -= ref_logprobs, and a bias of the function's own where that is 0."""
    for row, ref in zip(args["logprobs"], args["ref_logprobs"]):
        row[:] = [value - other - 1.0 for value, other in zip(row, ref)]


written(
    OP,
    "kto-ratio-in-place",
    "The reference is taken off the policy's log-probabilities in place",
    "logprobs -= ref_logprobs: the log-probabilities that are logged next are ratios. Fix: out of place.",
    reference_taken_off,
)
