"""Attributes of another owner for the length of a `with` block, put back exactly as they were."""

from __future__ import annotations

import contextlib
import inspect

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeVar

    Owner = TypeVar("Owner")

_DELETE = object()


@contextlib.contextmanager
def replaced(owner: Owner, **attributes: Any) -> Iterator[Owner]:
    """The owner (an object, a class, a module) with these attributes for the length of a `with` block.

    An attribute that it has not had is added, and gone afterwards: some are set only when training begins."""
    before = []
    try:
        for name, value in attributes.items():
            kept = _kept(owner, name)
            setattr(owner, name, value)
            before.append((name, kept))
        yield owner
    finally:
        for name, kept in reversed(before):
            if kept is _DELETE:
                delattr(owner, name)
            else:
                setattr(owner, name, kept)


def _kept(owner, name):
    """What to set afterwards; _DELETE where the attribute comes from elsewhere (its class, a base) or is new."""
    try:
        value = getattr(owner, name)  # first: a lazy module has it among its own only now
    except AttributeError:
        return _DELETE
    own = getattr(owner, "__dict__", {})
    if name in own:
        return own[name]  # not `value`: a staticmethod of a class would come back as a function
    if inspect.isclass(owner) or inspect.ismodule(owner):
        return _DELETE
    inherited = inspect.getattr_static(type(owner), name, _DELETE)
    if inherited is _DELETE or hasattr(type(inherited), "__set__"):
        return value  # found by __getattr__, as submodules of torch are, or kept behind a slot or a property
    return _DELETE
