"""lossproof: answer a test harness's questions about your trainer. Standard library only.

    import lossproof

    @lossproof.op
    def mask(sequences, attention_mask, prompt_width): ...
        return {"completion_mask": ...}

    lossproof.serve(name="my-trainer")

Importing this takes standard output for the protocol: from here on, whatever prints goes to standard error.
Import it first, before torch. `lossproof.callback`, for training scripts, is the exception: they keep theirs.
"""

from . import _channel

_channel.claim()

from ._errors import Reject, Skip  # noqa: E402  (only after the channel is ours)
from ._gradient import gradient  # noqa: E402
from ._registry import op  # noqa: E402
from ._serve import serve  # noqa: E402

__all__ = ["Reject", "Skip", "gradient", "op", "serve"]
