"""Wrong advantage estimation."""

from lossproof.examples import left_padded
from lossproof.examples.advantages import estimates
from lossproof.examples.advantages.estimates import added, trained

from ..registry import MUTANTS


def estimated(name, title, story, row_of, **rows):
    """A gae op whose rows are `row_of(rewards, values, mask, gamma, lam)`."""

    def gae(rewards, values, completion_mask, gamma, lam):
        made = [row_of(*each, gamma, lam) for each in zip(rewards, values, completion_mask)]
        return {"advantages": made, "returns": added(made, values, completion_mask)}

    gae.__doc__ = story
    MUTANTS.add(name, title, left_padded, **rows)(gae)


def recursion(rewards, values, columns, gamma, lam, bootstrap=0.0):
    """Over `columns`, whatever the mask says of them."""
    advantages = [0.0] * len(rewards)
    next_advantage, next_value = 0.0, bootstrap
    for t in reversed(columns):
        delta = rewards[t] + gamma * next_value - values[t]
        next_advantage = advantages[t] = delta + gamma * lam * next_advantage
        next_value = values[t]
    return advantages


def late(rewards, values, mask, gamma, lam):
    return estimates.gae_row(rewards, values[1:] + [0.0], mask, gamma, lam)


def bootstrapped(rewards, values, mask, gamma, lam):
    columns = trained(mask)
    behind = columns[-1] + 1 if columns else 0
    return recursion(rewards, values, columns, gamma, lam, values[behind] if 0 < behind < len(values) else 0.0)


def zeroed(rewards, values, mask, gamma, lam):
    """Tool tokens keep their places, with zeros."""
    rewards, values = ([x if on else 0.0 for x, on in zip(row, mask)] for row in (rewards, values))
    return recursion(rewards, values, range(len(mask)), gamma, lam)


def multiplied(rewards, values, mask, gamma, lam):
    rewards, values = ([x * on for x, on in zip(row, mask)] for row in (rewards, values))
    return recursion(rewards, values, range(len(mask)), gamma, lam)


def reset(rewards, values, mask, gamma, lam):
    advantages = [0.0] * len(mask)
    next_advantage = next_value = 0.0
    for t in reversed(range(len(mask))):
        if mask[t]:
            next_advantage = advantages[t] = (
                rewards[t] + gamma * next_value - values[t] + gamma * lam * next_advantage
            )
            next_value = values[t]
        else:
            next_advantage = next_value = 0.0
    return advantages


def unmasked(rewards, values, mask, gamma, lam):
    return recursion(rewards, values, range(len(mask)), gamma, lam)


def from_padding(rewards, values, mask, gamma, lam):
    steps = trained(mask)
    behind = values[steps[-1] + 1 : steps[-1] + 2] if steps else []
    return recursion(rewards, values, steps, gamma, lam, *behind)


def from_the_last_column(rewards, values, mask, gamma, lam):
    return recursion(rewards, values, trained(mask), gamma, lam, values[-1] if mask[-1] else 0.0)


estimated(
    "gae-bootstraps-from-the-slot-behind",
    "The value right behind the last token counts as that of a next state",
    "nextvalues = values[:, t + 1] on the last token, where the critic has judged padding: only that one slot, so that no "
    "test of the tail sees it. Fix: 0 behind the last trained token.",
    bootstrapped,
    rows=("VAL-01",),
)
estimated(
    "gae-value-one-late",
    "The value behind a token is taken for the one before it",
    "Values came as long as the row, and the slice began one column late: each action is compared with what the "
    "critic expected after it. Fix: values[start - 1 : end - 1].",
    late,
    row="VAL-03",
)
estimated(
    "gae-steps-through-tools",
    "Masked tokens are steps with reward and value 0",
    "rewards * mask and values * mask, and then one step a column: the output of a tool discounts what comes behind "
    "it, and a value of 0 stands in the middle of the row. Fix: carry value and advantage over masked columns.",
    zeroed,
    row="VAL-04",
)
estimated(
    "gae-ends-at-tools",
    "A masked token ends the episode",
    "lastgaelam * mask: what was won behind the tool call is never credited to the call. Fix: carry it over.",
    reset,
    row="VAL-04",
)
estimated(
    "gae-reads-padding",
    "The recursion runs over padding",
    "It begins at the last column of the batch, and values on padding are whatever the critic says of a pad token. "
    "Fix: mask rewards and values first.",
    unmasked,
    row="VAL-01",
    rows=("VAL-04",),
)
estimated(
    "gae-bootstraps-from-padding",
    "The value behind the last token is read from padding",
    "values[:, t + 1] at the end of each answer is the critic's opinion of a pad token. Fix: 0 behind an answer.",
    from_padding,
    row="VAL-03",
)
estimated(
    "gae-bootstraps-in-the-last-column",
    "An answer that fills the row is taken for one that goes on",
    "nextvalues = values[:, -1] where the loop begins: only the longest answer of the batch is affected. Fix: 0.",
    from_the_last_column,
    row="VAL-01",
)
estimated(
    "gae-nan-under-the-mask",
    "NaN under a 0 of the mask reaches the advantages",
    "values * mask before the recursion: zero times NaN is NaN, and runs through the whole row. Fix: where().",
    multiplied,
    row="NUM-02",
    rows=("VAL-04",),
)


@MUTANTS.add("gae-carried-across-rows", "The advantage of one row runs on into the next", left_padded, row="PAD-08")
def gae(rewards, values, completion_mask, gamma, lam):
    """A packed batch is one long row, and the accumulator was not reset where an answer ends. Fix: reset it."""
    rows, carried = [], 0.0
    for reward, value, mask in zip(rewards, values, completion_mask):
        steps = trained(mask)
        changed = list(reward)
        if steps:
            changed[steps[-1]] += gamma * lam * carried
        rows.append(estimates.gae_row(changed, value, mask, gamma, lam))
        carried = rows[-1][steps[0]] if steps else carried
    return {"advantages": rows, "returns": added(rows, values, completion_mask)}


@MUTANTS.add(
    "returns-of-whitened-advantages",
    "Returns are made of whitened advantages",
    left_padded,
    "gae",
    row="ADV-06",
)
def returns_late(rewards, values, completion_mask, gamma, lam):
    """advantages were whitened in place, one line before returns = advantages + values: the critic learns numbers
    around 0 with deviation 1. Fix: returns first."""
    rows = estimates.whitened_gae(rewards, values, completion_mask, gamma, lam)["advantages"]
    return {"advantages": rows, "returns": added(rows, values, completion_mask)}


WINDOW = 12


def windowed(rewards, values, mask, gamma, lam):
    steps, row = trained(mask), estimates.gae_row(rewards, values, mask, gamma, lam)
    for at, step in enumerate(steps):
        behind = steps[at : at + WINDOW]
        total = 0.0
        for k, now in enumerate(behind):
            following = values[steps[at + k + 1]] if at + k + 1 < len(steps) else 0.0
            total += (gamma * lam) ** k * (rewards[now] + gamma * following - values[now])
        row[step] = total
    return row


estimated(
    "gae-ends-after-a-window",
    "The recursion of an advantage looks twelve tokens ahead, and no further",
    "A scan was written out for the rewards of a game, whose (gamma * lambda)^12 is nothing; with gamma 1 the reward of an "
    "answer stands at its end. Fix: one pass from the back.",
    windowed,
)


CHUNK = 64


def in_chunks(rewards, values, mask, gamma, lam):
    steps, row = trained(mask), [0.0] * len(mask)
    while steps:
        steps, chunk = steps[:-CHUNK], steps[-CHUNK:]
        made = recursion(rewards, values, chunk, gamma, lam)
        for step in chunk:
            row[step] = made[step]
    return row


estimated(
    "gae-chunks-carry-nothing",
    "A row is scanned in chunks of 64 tokens, and each begins from nothing",
    "The kernel's carry was kept in a register of the block: behind the last chunk, no token earns what the end of the answer is "
    "worth. Fix: hand it from block to block.",
    in_chunks,
)
