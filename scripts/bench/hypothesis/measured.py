"""Cases per second of a Hypothesis test, printed as one number. Generation, the call and the check are all inside the
measured time, as they are on the other side; the example database, deadlines and shrinking are switched off in its favour."""

import os
import sys
import time

_result = os.fdopen(os.dup(1), "w")  # importing lossproof sends stdout to stderr

from hypothesis import HealthCheck, Phase, settings  # noqa: E402

# Beneath `given`; as many cases as the command line says.
measured = settings(
    max_examples=int(sys.argv[1]),
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def measure(test, count):
    """`count()`: the cases so far. The first run is for imports, strategies and caches."""
    test()
    before, begin = count(), time.perf_counter()
    test()
    print((count() - before) / (time.perf_counter() - begin), file=_result, flush=True)
