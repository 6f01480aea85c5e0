"""lossproof: answer a test harness's questions about your trainer. Standard library only.

    import lossproof

    @lossproof.op
    def mask(sequences, attention_mask, prompt_width): ...
        return {"completion_mask": ...}

    lossproof.serve(name="my-trainer")

In a process that the harness started, importing this takes standard output for the protocol: from here on, whatever prints goes
to standard error. Import it first, before torch. Anywhere else nothing is taken before `serve`.
"""

from . import _channel

_channel.claim_if_asked()

from ._errors import Reject, Skip  # noqa: E402  (only after the channel is ours)
from ._gradient import gradient  # noqa: E402
from ._registry import op  # noqa: E402
from ._serve import serve  # noqa: E402

__all__ = ["Reject", "Skip", "gradient", "op", "serve"]

# What they need is imported when they are: a trainer that answers pays for none of it.
_LAZY = {"pytest": ("pytest", None), "check": ("notebook", "check"), "view": ("notebook", "view")}


def __getattr__(name):
    if name not in _LAZY:
        raise AttributeError("lossproof has no %r%s" % (name, _meant(name)))
    import importlib

    module, attribute = _LAZY[name]
    found = importlib.import_module("." + module, __name__)
    return found if attribute is None else getattr(found, attribute)


def _meant(name):
    """What somebody may have wanted who wrote lossproof.NAME."""
    from ._registry import ARGS, nearest

    if name in ARGS:
        return ": an op is a function of its name under @lossproof.op"
    return nearest(name, [*__all__, *_LAZY])
