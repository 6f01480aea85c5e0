"""The seed of a run: what is given, else LOSSPROOF_SEED, else a new one."""

import os
import random

MOST_SEED = 0x7FFFFFFF


def seed_of(given=None):
    """Raises ValueError with one sentence where what is given is no seed: a typing error must not become another run."""
    name, value = "the seed", given
    if given is None:
        name, value = "LOSSPROOF_SEED", os.environ.get("LOSSPROOF_SEED", "")
        if value == "":
            return random.SystemRandom().randint(0, MOST_SEED)
    try:
        seed = int(value)
    except (TypeError, ValueError):
        seed = -1
    if not 0 <= seed <= MOST_SEED:
        raise ValueError("%s is %r; it must be a whole number from 0 to %d." % (name, value, MOST_SEED))
    return seed
