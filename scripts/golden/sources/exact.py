"""Numbers of the worked examples: decimal fractions of 50 digits, shown to 40. Standard library only."""

from decimal import Context, Decimal, getcontext
from fractions import Fraction

getcontext().prec = 50
SHOWN = Context(prec=40)
# The step of a difference quotient: its error is about the square of it.
STEP = Decimal("1e-15")
# A derivative by formula and one by difference quotient agree to this.
AGREE = Decimal("1e-20")


def d(value):
    """A number of an input, exactly as it is written."""
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    return Decimal(value)


def matrix(rows):
    return [[d(value) for value in row] for row in rows]


def shown(value):
    """Numbers to 40 digits as strings, at any depth; integers of masks and counts, and words, stay."""
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(item) for item in value]
    if isinstance(value, Fraction):
        value = d(value)
    if isinstance(value, Decimal):
        rounded = SHOWN.plus(value)
        if rounded == 0:
            return "0"
        plain = format(rounded, "f")
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    return value


def root(value):
    return d(value).sqrt()


def mean(values):
    return sum(values) / len(values)


def variance(values, ddof):
    centre = mean(values)
    return sum((value - centre) ** 2 for value in values) / (len(values) - ddof)


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def log_softmax(row):
    """log p, in nats; a logit of None cannot be drawn and stays None."""
    total = sum(value.exp() for value in row if value is not None)
    return [None if value is None else value - total.ln() for value in row]


def checked_slope(function, at, slope):
    """The slope, once the difference quotient has confirmed it."""
    quotient = (function(at + STEP) - function(at - STEP)) / (2 * STEP)
    assert abs(quotient - slope) < AGREE, f"the slope is {slope}, the difference quotient {quotient}"
    return slope
