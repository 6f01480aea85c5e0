"""The trainer on several ranks where there are always three: each request says which rows each of them has, if any."""

import lossproof
from conformance.data_parallel import DECLARED, OPS

RANKS = 3


def fixed(op):
    """(function, capability), with the number of ranks where the op takes any."""
    function, capability = op if isinstance(op, tuple) else (op, {})
    return function, dict(capability, ranks=RANKS) if capability.get("ranks") else capability


if __name__ == "__main__":
    lossproof.serve(name="fixed-ranks", ops={name: fixed(op) for name, op in OPS.items()}, **DECLARED)
