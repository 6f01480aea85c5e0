"""A configuration as trainers read it, by attribute, by key and by `get`; an object of a class that nobody constructed, for methods
that read a few attributes, and code that asks for the type of its configuration."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Owned = TypeVar("Owned")


class Settings(dict):
    """`Settings(clip_ratio=0.2, actor=Settings(lr=1e-6))`: what is not there raises AttributeError, `get` has a default."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError("these settings have no %r; they have %s" % (name, ", ".join(self) or "none")) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def instance(owner: type[Owned], **attributes: Any) -> Owned:
    """An object of class `owner` with these attributes and none of what its `__init__` would set. Its methods are its own;
    what they miss raises AttributeError, as ever."""
    made = object.__new__(owner)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)  # a frozen dataclass refuses its own
    return made
