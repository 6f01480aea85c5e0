"""A configuration as trainers read it, by attribute, by key and by `get`."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from typing import Any


class Settings(dict):
    """`Settings(clip_ratio=0.2, actor=Settings(lr=1e-6))`: what is not there raises AttributeError, `get` has a default."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError("these settings have no %r; they have %s" % (name, ", ".join(self) or "none")) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value
