"""For adapters of trainers whose code stands in the middle of a method: the trainer's own lines run, unmodified, on what
the harness asks. Standard library at import; torch is imported by what needs it, when it is first named.

    spy, replaced        what is called, with what, and with what stands in its place
    slice_of             a stretch of a method, found by its text
    stub                 imports of packages that are not installed
    in_part              a file that cannot be imported whole
    Settings, instance   a configuration, by attribute and by key; an object without its constructor
    Table, Codec         a model whose logits are given; a tokenizer of single characters
    recorded_backward    the losses that the optimiser gets
    drawn_from           the probabilities of what a sampler draws

A recipe of each is in docs/attach.md."""

from ._codec import Codec
from ._part import in_part
from ._replaced import replaced
from ._settings import Settings, instance
from ._slice import slice_of
from ._spy import spy
from ._stub import stub

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from ._backward import recorded_backward
    from ._drawn import drawn_from
    from ._table import Table

__all__ = ["Codec", "Settings", "Table", "drawn_from", "in_part", "instance", "recorded_backward", "replaced", "slice_of", "spy", "stub"]

_TORCH = {"Table": "_table", "drawn_from": "_drawn", "recorded_backward": "_backward"}

if not TYPE_CHECKING:  # else any name would do

    def __getattr__(name):
        if name not in _TORCH:
            raise AttributeError("lossproof.testing has no %s; it has %s" % (name, ", ".join(__all__)))
        from importlib import import_module

        return getattr(import_module("." + _TORCH[name], __name__), name)
