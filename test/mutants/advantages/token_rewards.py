"""Wrong ways to hand a score, its KL and rewards of steps out to tokens."""

from lossproof.examples import left_padded
from lossproof.examples.advantages.estimates import trained

from ..registry import MUTANTS


def handed_out(name, title, story, place=None, penalty=None, **rows):
    """A token_rewards op: `place(mask, masks)` names the columns that get the score, `penalty(kl, process, mask,
    coef)` makes one row's rewards without it."""

    def token_rewards(scores, process_rewards, kl, completion_mask, kl_coef):
        rewards = []
        for score, process, own, mask in zip(scores, process_rewards, kl, completion_mask):
            row = (penalty or rightly)(own, process, mask, kl_coef)
            if any(mask):
                for column in (place or at_the_end)(mask, completion_mask):
                    row[column] += score
            rewards.append(row)
        return {"rewards": rewards}

    token_rewards.__doc__ = story
    MUTANTS.add(name, title, left_padded, "token_rewards", **rows)(token_rewards)


def at_the_end(mask, masks):
    return [trained(mask)[-1]]


def rightly(kl, process, mask, coef):
    return [p - coef * k if on else 0.0 for p, k, on in zip(process, kl, mask)]


handed_out(
    "reward-at-the-last-column",
    "The score stands in the last column of the batch",
    "rewards[:, -1] += scores, right for the longest answer only: the others' scores lie on padding. Fix: each row's "
    "last trained token.",
    lambda mask, masks: [len(mask) - 1],
    row="VAL-01",
)
handed_out(
    "reward-at-the-first-zero",
    "The score stands at the first 0 of the mask",
    "argmin of the mask names the slot behind the answer, or column 0 where the answer fills the row: an answer that "
    "was cut off credits its first token. Fix: count from the right.",
    lambda mask, masks: [mask.index(0) if 0 in mask else 0],
    row="VAL-01",
)
handed_out(
    "reward-at-the-count",
    "The number of trained tokens is taken for the place of the last",
    "mask.sum() - 1 is the last trained token as long as nothing stands between them; with a tool's output it is "
    "some token in the middle. Fix: the last 1 of the mask.",
    lambda mask, masks: [sum(mask) - 1],
    row="VAL-01",
    rows=("MSK-12",),
)
handed_out(
    "reward-at-the-end-of-the-first-row",
    "All scores stand where the first answer ends",
    "The index was computed for one row and broadcast over the batch. Fix: one index a row.",
    lambda mask, masks: [trained(masks[0])[-1] if any(masks[0]) else 0],
    row="PAD-08",
)
handed_out(
    "reward-on-every-token",
    "The score is given to every token",
    "rewards = scores.unsqueeze(1) - beta * kl: an answer of a hundred tokens is paid a hundred times. Fix: add it at "
    "the last token.",
    lambda mask, masks: trained(mask),
    row="KL-12",
)


def added_kl(kl, process, mask, coef):
    return rightly(kl, process, mask, -coef)


def always_kl(kl, process, mask, coef):
    return rightly(kl, process, mask, left_padded.KL_COEF)


def summed_kl(kl, process, mask, coef, only_trained=True):
    row = [p if on else 0.0 for p, on in zip(process, mask)]
    if any(mask):
        row[trained(mask)[-1]] -= coef * sum(k for k, on in zip(kl, mask) if on or not only_trained)
    return row


def all_kl(kl, process, mask, coef):
    return summed_kl(kl, process, mask, coef, only_trained=False)


def late_process(kl, process, mask, coef):
    row = rightly(kl, [0.0] * len(mask), mask, coef)
    if any(mask):
        row[trained(mask)[-1]] += sum(p for p, on in zip(process, mask) if on)
    return row


handed_out(
    "reward-adds-the-kl",
    "KL is added to the reward",
    "The sign that KL has in a loss was kept in the reward: moving away from the reference pays. Fix: subtract it.",
    penalty=added_kl,
    row="KL-01",
)
handed_out(
    "reward-with-the-losses-kl",
    "KL is taken off the reward with the coefficient of the loss, even where it is off",
    "KL moved from the reward to the loss, and the old line stayed: it is paid twice. Fix: the given coefficient, "
    "0 included.",
    penalty=always_kl,
    row="KL-10",
)
handed_out(
    "reward-kl-at-the-end",
    "The KL of all tokens is taken off the last one",
    "reward = score - beta * kl.sum(): the last token pays for the first. Fix: each token's own.",
    penalty=summed_kl,
    row="KL-12",
)
handed_out(
    "reward-kl-of-tools",
    "The KL of masked tokens is taken off the reward",
    "kl.sum() without the mask: the answer pays for what a tool wrote. Fix: multiply by the mask first.",
    penalty=all_kl,
    row="KL-08",
    rows=("KL-12",),
)
handed_out(
    "process-rewards-at-the-end",
    "Rewards of steps are summed up and given to the last token",
    "A path for outcome rewards was reused. Fix: leave each at its token.",
    penalty=late_process,
    row="VAL-01",
)
