"""A language model small enough to check by hand: a recurrence over tokens and absolute positions.

Not trained and not clever, but sensitive to everything that goes wrong in batches: which tokens, in which
order, at which positions, and what the padding does. Any id will do; ids equal modulo CLASSES are alike."""

import math

# Prime, so that neighbouring ids seldom fall into one class.
CLASSES = 61
WIDTH = 4


def score_rows(input_ids, attention_mask):
    """log p(token) of each token given those before it, (B, T); 0.0 where there is no token before it.

    Positions count real tokens, never columns, and padding leaves the state untouched: so a padded row scores
    as it would alone."""
    return [_score_row(ids, real) for ids, real in zip(input_ids, attention_mask)]


def _score_row(ids, real):
    state, position, out = [0.0] * WIDTH, 0, []
    for id, is_real in zip(ids, real):
        out.append(log_prob(state, id) if is_real and position else 0.0)
        if is_real:
            state = step(state, id, position)
            position += 1
    return out


def step(state, id, position):
    """The state after one more token; a rotation keeps the order of earlier tokens visible."""
    turned = state[1:] + state[:1]
    return [
        math.tanh(
            0.7 * turned[i] + math.sin(1.0 + (id % CLASSES) * (i + 1)) + 0.3 * math.cos(position * (i + 1))
        )
        for i in range(WIDTH)
    ]


def log_prob(state, id):
    """log-softmax over the classes; all ids of a class are equally likely; that constant is left out."""
    logits = [sum(s * math.cos(c * (i + 2)) for i, s in enumerate(state)) for c in range(CLASSES)]
    top = max(logits)
    return logits[id % CLASSES] - top - math.log(sum(math.exp(z - top) for z in logits))
