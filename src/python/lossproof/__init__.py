"""lossproof: answer a test harness's questions about your trainer. Standard library only.

    import lossproof

    @lossproof.op
    def mask(sequences, attention_mask, prompt_width): ...
        return {"completion_mask": ...}

    lossproof.serve(name="my-trainer")

Importing this takes standard output for the protocol: from here on, whatever prints goes to standard error.
Import it first, before torch. `lossproof.callback`, for training scripts, is the exception: they keep theirs.
"""

import sys

from . import _channel


def _on_the_way_to(submodule):
    """Whether a submodule is what was asked for, and this package is imported because it holds it."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "_find_and_load" and frame.f_locals.get("name") == submodule:
            return True
        frame = frame.f_back
    return False


if not _on_the_way_to(__name__ + ".callback"):
    _channel.claim()

from ._errors import Reject, Skip  # noqa: E402  (only after the channel is ours)
from ._gradient import gradient  # noqa: E402
from ._registry import op  # noqa: E402
from ._serve import serve  # noqa: E402

__all__ = ["Reject", "Skip", "gradient", "op", "serve"]
