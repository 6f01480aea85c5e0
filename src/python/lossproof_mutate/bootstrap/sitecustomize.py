"""Found by PYTHONPATH at the start of every Python process below `lossproof mutate`, before the adapter's first line.

It runs the sitecustomize that it stands before, as if it were not there, and has the changes wait for their files. The tracer's
does the first of these with the same lines: at this point nothing of ours is on the path of the process.
"""

import os
import sys


def _shadowed(here):
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _arm(here):
    if not os.environ.get("LOSSPROOF_MUTATE"):
        return
    home = os.path.dirname(os.path.dirname(here))
    if home not in sys.path:
        sys.path.append(home)
    from lossproof_mutate import _arm as mutate

    mutate.arm()


_here = os.path.dirname(os.path.abspath(__file__))
try:
    # What it raises is for `site` to report, as it would be without us.
    _shadowed(_here)
finally:
    _arm(_here)
