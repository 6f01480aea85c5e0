"""What a type checker sees of `lossproof`: that `check`, `view` and `pytest` are imported when they are asked for is nothing it could know,
and what types need would cost a trainer time. A test compares it with what there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from . import pytest as pytest
from ._errors import Reject as Reject
from ._errors import Skip as Skip
from ._gradient import gradient as gradient
from ._serve import serve as serve
from .notebook import check as check
from .notebook import view as view

__all__ = ["Reject", "Skip", "gradient", "op", "serve"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

@overload
def op(name: _Function) -> _Function: ...
@overload
def op(name: str | None = None, **capability: Any) -> Callable[[_Function], _Function]: ...
