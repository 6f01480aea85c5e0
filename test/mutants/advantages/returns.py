"""Wrong returns."""

from struct import pack, unpack

from lossproof.examples import left_padded
from lossproof.examples.advantages.estimates import returns_row, trained

from ..registry import MUTANTS


def returned(name, title, story, row_of, **rows):
    """A returns op whose rows are `row_of(rewards, mask, gamma)`."""

    def returns(rewards, completion_mask, gamma):
        return {"returns": [row_of(*each, gamma) for each in zip(rewards, completion_mask)]}

    returns.__doc__ = story
    MUTANTS.add(name, title, left_padded, **rows)(returns)


def once_more(rewards, mask, gamma):
    return [gamma * value for value in returns_row(rewards, mask, gamma)]


def from_the_left(rewards, mask, gamma):
    return returns_row(rewards[::-1], mask[::-1], gamma)[::-1]


def next_left_out(rewards, mask, gamma):
    """The recursion takes the reward of the token before it stands at."""
    steps = trained(mask)
    shifted = list(rewards)
    for t, later in zip(steps, steps[1:] + [None]):
        shifted[t] = 0.0 if later is None else rewards[later]
    return returns_row(shifted, mask, gamma)


def to_the_end(rewards, mask, gamma):
    return returns_row(rewards, [1] * len(mask), gamma)


def reset(rewards, mask, gamma):
    row, to_come = [0.0] * len(mask), 0.0
    for t in reversed(range(len(mask))):
        to_come = row[t] = (rewards[t] + gamma * to_come) * mask[t]
    return row


def steps_through_tools(rewards, mask, gamma):
    return returns_row([r if on else 0.0 for r, on in zip(rewards, mask)], [1] * len(mask), gamma)


def to_the_last_column(rewards, mask, gamma):
    width = len(mask)
    return [sum(rewards[j] for j in trained(mask) if j >= t) * gamma ** (width - 1 - t) for t in range(width)]


def undiscounted(rewards, mask, gamma):
    return returns_row(rewards, mask, 1.0)


returned(
    "returns-discounted-once-more",
    "gamma is applied to the reward of the token itself, too",
    "gamma * (r + to_come) in the place of r + gamma * to_come: every token earns gamma times too little.",
    once_more,
)
returned(
    "returns-from-the-left",
    "The sum runs from the first token to the last",
    "cumsum without the two flips: a token is credited with what was won before it. Fix: flip, cumsum, flip.",
    from_the_left,
)
returned(
    "returns-of-the-next-token",
    "A token is not credited with its own reward",
    "returns[:, t] was written before the reward was added: the last token, which has the outcome's, gets nothing.",
    next_left_out,
    row="VAL-01",
)
returned(
    "returns-without-gamma",
    "gamma is not applied",
    "The default of the function's signature stands in the place of the configuration's. Fix: hand it over.",
    undiscounted,
)
returned(
    "returns-discounted-to-the-last-column",
    "The reward is discounted by the columns up to the end of the batch",
    "gamma ** arange(T).flip(0), written for rows that fill theirs: a short answer in a wide batch earns next to nothing.",
    to_the_last_column,
)
returned(
    "returns-count-padding",
    "Rewards behind the stop token are added up, too",
    "The recursion begins at the last column, and no mask is applied. Fix: rewards * mask, or where().",
    to_the_end,
    row="VAL-01",
    rows=("VAL-04",),
)
returned(
    "returns-end-at-tools",
    "A masked token sets the sum back to 0",
    "running = running * mask[:, t], meant for what stands behind the stop token: what was won behind a tool call is never "
    "credited to the call. Fix: carry it over.",
    reset,
    row="VAL-04",
)
returned(
    "returns-step-through-tools",
    "Masked tokens are steps with reward 0",
    "rewards * mask, and then one step a column: the output of a tool discounts what comes behind it.",
    steps_through_tools,
    row="VAL-04",
)


@MUTANTS.add("returns-carried-across-rows", "The return of one row runs on into the next", left_padded, row="PAD-08")
def returns(rewards, completion_mask, gamma):
    """A packed batch is one long row, and the sum was not set back to 0 where an answer ends. Fix: reset it."""
    rows, carried = [], 0.0
    for reward, mask in zip(rewards, completion_mask):
        steps = trained(mask)
        changed = list(reward)
        if steps:
            changed[steps[-1]] += gamma * carried
        rows.append(returns_row(changed, mask, gamma))
        carried = rows[-1][steps[0]] if steps else carried
    return {"returns": rows}


returned(
    "returns-without-a-discount-at-zero",
    "A discount of 0 is taken for one that was not set",
    "gamma = gamma or 1.0: the bandit's setting sums the whole episode. Fix: `is None`.",
    lambda rewards, mask, gamma: returns_row(rewards, mask, gamma or 1.0),
)


def single(x):
    return unpack("f", pack("f", x))[0]


def by_powers(rewards, mask, gamma):
    """The sum of gamma^t r_t behind each token, divided by its own power."""
    steps, row, total = trained(mask), [0.0] * len(mask), 0.0
    for at in reversed(range(len(steps))):
        power = single(gamma**at)
        total += rewards[steps[at]] * power
        row[steps[at]] = total / power if power else 0.0
    return row


returned(
    "returns-by-powers-of-gamma",
    "Returns are sums of gamma^t r_t, divided by gamma^t",
    "cumsum in the place of a loop: from some hundred tokens on, float32 has no such power, and the end of an answer earns nothing. "
    "Fix: one pass from the back.",
    lambda rewards, mask, gamma: by_powers(rewards, mask, gamma) if gamma else returns_row(rewards, mask, gamma),
)
