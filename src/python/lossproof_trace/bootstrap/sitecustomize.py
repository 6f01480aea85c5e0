"""Found by PYTHONPATH at the start of every Python process below `lossproof trace`, before the script's first line.

It runs the sitecustomize that it stands before, as if it were not there, and arms the tracer. It prints nothing, never
fails, and costs a process without torch some milliseconds.
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
    if not os.environ.get("LOSSPROOF_TRACE") or sys.version_info < (3, 9):
        return
    try:
        package = os.path.dirname(here)
        home = os.path.dirname(package)
        if home not in sys.path:
            sys.path.append(home)
        from lossproof_trace import _arm as tracer

        tracer.arm()
    except Exception:
        # The script runs untraced, which the harness sees: there is no file of this process.
        pass


_here = os.path.dirname(os.path.abspath(__file__))
try:
    # What it raises is for `site` to report, as it would be without the tracer.
    _shadowed(_here)
finally:
    _arm(_here)
