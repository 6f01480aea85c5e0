"""A language model small enough to check by hand: a recurrence over tokens and absolute positions.

Not trained and not clever, but sensitive to everything that goes wrong in batches: which tokens, in which
order, at which positions, and what the padding does. Any id will do; ids equal modulo CLASSES change the state alike."""

from functools import lru_cache
from math import cos, exp, log, sin, tanh

# Prime, so that neighbouring ids seldom fall into one class.
CLASSES = 61
WIDTH = 4

# The weights, by class.
EMBEDDING = [[sin(1.0 + c * (i + 1)) for i in range(WIDTH)] for c in range(CLASSES)]
HEAD = [tuple(cos(c * (i + 2)) for i in range(WIDTH)) for c in range(CLASSES)]


@lru_cache(maxsize=None)
def place(position):
    """What a position adds to the state."""
    return [0.3 * cos(position * (i + 1)) for i in range(WIDTH)]


def score_rows(input_ids, attention_mask, bias=None):
    """log p(token) of each token given those before it, (B, T); 0.0 where there is no token before it.
    `bias`, (CLASSES,), is the one weight that can be trained; none is zeros.

    Positions count real tokens, never columns, and padding leaves the state untouched: so a padded row scores
    as it would alone."""
    return [_score_row(ids, real, bias) for ids, real in zip(input_ids, attention_mask)]


def _score_row(ids, real, bias=None):
    logprobs = iter(_logprobs(_real(ids, real), bias if bias is None else tuple(bias)))
    return [next(logprobs) if is_real else 0.0 for is_real in real]


def _real(ids, real):
    return tuple(id for id, is_real in zip(ids, real) if is_real)


# The same rows come in many batches, padded and ordered otherwise.
@lru_cache(maxsize=4096)
def _logprobs(ids, bias):
    """Of a row without padding: log p of each token, and 0.0 of the first."""
    states = _states(ids)
    return [0.0 if at == 0 else log_prob(states[at], id, bias) for at, id in enumerate(ids)]


@lru_cache(maxsize=4096)
def _states(ids):
    """The state before each token of a row without padding, and after its last."""
    states = [[0.0] * WIDTH]
    for position, id in enumerate(ids):
        states.append(step(states[-1], id, position))
    return states


def score_packed(rows):
    """The same of rows without padding, one behind the other: where one begins, state and position begin anew."""
    return [_score_row(row, [1] * len(row)) for row in rows]


def step(state, id, position):
    """The state after one more token; a rotation keeps the order of earlier tokens visible."""
    turned = state[1:] + state[:1]
    return [tanh(0.7 * old + new + at) for old, new, at in zip(turned, EMBEDDING[id % CLASSES], place(position))]


def log_prob(state, id, bias=None):
    """log-softmax over the classes. The k-th id of a class has 1 / ((k + 1) (k + 2)) of its probability: that adds up to 1
    however large the vocabulary is."""
    a, b, c, d = state
    logits = [a * w + b * x + c * y + d * z for w, x, y, z in HEAD]
    if bias is not None:
        logits = [logit + add for logit, add in zip(logits, bias)]
    # The state is within ±1 and so are the weights: nothing overflows.
    k = id // CLASSES
    return logits[id % CLASSES] - log(sum(map(exp, logits)) * (k + 1) * (k + 2))


def value_rows(input_ids, attention_mask):
    """A critic's V before each token, (B, T): what it makes of the tokens in front of it, and not of that one."""
    return [_value_row(ids, real)[0] for ids, real in zip(input_ids, attention_mask)]


def reward_rows(input_ids, attention_mask):
    """A reward model's score of each row, (B,): the same head behind the last real token."""
    return [value_of(_value_row(ids, real)[1]) for ids, real in zip(input_ids, attention_mask)]


def _value_row(ids, real):
    """(V at each column, the state behind the last real token)."""
    states, seen, out = _states(_real(ids, real)), 0, []
    for is_real in real:
        out.append(value_of(states[seen]))
        seen += bool(is_real)
    return out, states[-1]


def value_of(state):
    return sum(s * cos(3 * i + 1) for i, s in enumerate(state))
