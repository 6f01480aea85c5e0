"""What people get wrong, as changes of an expression: each kind yields (kind, node, text in its place)."""

from ._arithmetic import arithmetic
from ._calls import calls
from ._logic import logic
from ._numbers import numbers
from ._rows import rows
from ._statements import statements

KINDS = (rows, arithmetic, logic, calls, numbers, statements)

# Bugs of real trainers that a change of this kind is one of.
BUGS = {
    "shifted by one": ["MSK-04", "LP-01"],
    "slice end": ["PAD-03", "TRN-05"],
    "mask dropped": ["LOSS-11", "KL-08"],
    "other axis": ["ADV-08"],
    "sum for mean": ["LOSS-04", "LOSS-13"],
    "denominator dropped": ["LOSS-08", "OPT-12"],
    "sign": ["KL-01", "PPO-07"],
    "operands swapped": ["KL-03"],
    "epsilon": ["ADV-05"],
    "temperature dropped": ["LP-05"],
    "min for max": ["PPO-03"],
    "eos for pad": ["EOS-01", "MSK-06"],
    "detach dropped": ["PPO-04"],
    "detach added": ["KL-04"],
    "ignored label": ["MSK-06"],
}
