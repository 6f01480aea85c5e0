"""Where in the script something happens: the nearest frame that is the script's own, and no library's."""

import os
import sys

# Top-level packages whose frames stand between the script and torch.
LIBRARIES = frozenset(
    "torch transformers accelerate trl peft deepspeed lightning pytorch_lightning lightning_fabric torchtune apex "
    "bitsandbytes contextlib functools lossproof_trace runpy".split()
)


def place():
    """file:line, the file as seen from where the script runs; None: no frame of its own is below this call."""
    at = sys._getframe(1)
    while at is not None:
        name = str(at.f_globals.get("__name__", ""))
        file = at.f_code.co_filename
        if name.partition(".")[0] not in LIBRARIES and not file.startswith("<"):
            return "%s:%d" % (_short(file), at.f_lineno)
        at = at.f_back
    return None


def caller(depth):
    """Path of the file whose code called the function `depth` frames above this one's caller."""
    try:
        return sys._getframe(depth + 1).f_code.co_filename.replace(os.sep, "/")
    except ValueError:
        return ""


def _short(file):
    # A runner of scripts may have been given a path that is relative.
    if not os.path.isabs(file):
        return file
    here = os.getcwd() + os.sep
    return file[len(here) :] if file.startswith(here) else os.path.basename(file)
