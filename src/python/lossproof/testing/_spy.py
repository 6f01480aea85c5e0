"""Calls of one function, seen from outside: recorded, answered by something else, or the end of the block."""

from __future__ import annotations

import contextlib
import difflib
import functools
import inspect

from ._replaced import replaced

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any, Literal

_NONE = object()


class Stopped(BaseException):
    """Ends the trainer's code at a call. No Exception, so that an `except Exception` on the way lets it through."""


class Call:
    """One call: `args`, `kwargs`, its `result`, and each argument by its name: call["logits"]."""

    def __init__(self, what: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.args, self.kwargs = args, kwargs
        self._what, self._function, self._result = what, function, _NONE

    @property
    def result(self) -> Any:
        if self._result is _NONE:
            raise ValueError("%s returned nothing: it raised, or was stopped before it ran" % self._what)
        return self._result

    def __getitem__(self, name: str) -> Any:
        if name in self.kwargs:
            return self.kwargs[name]
        try:
            bound = inspect.signature(self._function).bind(*self.args, **self.kwargs)
        except (TypeError, ValueError) as why:
            raise KeyError("%s by name: %s of %s" % (name, why, self._what))
        bound.apply_defaults()
        if name not in bound.arguments:
            raise KeyError("%s has no argument %s; it has %s" % (self._what, name, ", ".join(bound.arguments)))
        return bound.arguments[name]

    def __repr__(self) -> str:
        return "<call of %s>" % self._what


class Calls(list[Call]):
    """The calls in their order. `only` is the one that there should be, `results` what each returned."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what
        self.stopped = False

    @property
    def only(self) -> Call:
        if len(self) != 1:
            raise ValueError("%s was called %d times inside the block, not once" % (self.what, len(self)))
        return self[0]

    @property
    def last(self) -> Call:
        if not self:
            raise ValueError("%s was never called inside the block" % self.what)
        return self[-1]

    @property
    def results(self) -> list[Any]:
        return [call.result for call in self]


@contextlib.contextmanager
def spy(
    owner: Any,
    name: str,
    returns: Any = _NONE,
    instead: Callable[..., Any] | None = None,
    stop: Literal[True, False, "after"] = False,
) -> Iterator[Calls]:
    """Records the calls of owner.name inside the block, which gets the list of them.

    owner: an object, a class (then `self` is the first of args) or the module whose code makes the call: after
        `from x import f` in trainer.py, f is one of trainer, not of x.
    returns: a value that each call gets, or instead: a function that is called in the place of the real one.
    stop: True leaves the block at the call, before the function runs; "after" when it has answered."""
    if stop not in (False, True, "after"):
        raise ValueError('stop=%r: True, or "after" for when the call has answered' % (stop,))
    if returns is not _NONE and instead is not None:
        raise ValueError("spy: returns is a value, instead a function; give one of them")
    what = "%s.%s" % (_named(owner), name)
    real = _real(owner, name, what)
    answer = instead if instead is not None else real
    calls = Calls(what)
    token = Stopped(what)

    def recorded(*args, **kwargs):
        call = Call(what, real, args, kwargs)
        calls.append(call)
        if stop is not True:
            call._result = answer(*args, **kwargs) if returns is _NONE else returns
        if stop:
            calls.stopped = True
            raise token
        return call._result

    if inspect.isroutine(real):
        functools.update_wrapper(recorded, real)  # its signature: trainers look at that of model.forward
    with replaced(owner, **{name: _as_found(owner, name, recorded)}):
        try:
            yield calls
        except Stopped as reached:
            if reached is not token:
                raise
            return
    if calls.stopped:
        raise RuntimeError(
            "%s was to stop there, but the code caught that (`except:` or `except BaseException:`) and went on" % what
        )


def _real(owner, name, what):
    """The function, as the call finds it."""
    if name.startswith("__") and name.endswith("__") and not (inspect.isclass(owner) or inspect.ismodule(owner)):
        raise ValueError("Python looks %s up on the class: spy(type(...), %r)" % (what, name))
    static = inspect.getattr_static(owner, name, None)
    if inspect.isclass(owner) and isinstance(static, property):
        raise ValueError("%s is a property, and not called; replaced(object, %s=...) sets it" % (what, name))
    try:
        real = getattr(owner, name)
    except AttributeError:
        near = difflib.get_close_matches(name, dir(owner), 1)
        raise AttributeError("there is no %s%s" % (what, "; there is %s" % near[0] if near else "")) from None
    if not callable(real):
        raise ValueError("%s is of type %s, and not called" % (what, type(real).__name__))
    if inspect.isclass(owner) and isinstance(static, classmethod):
        return static.__func__
    return real


def _as_found(owner, name, recorded):
    """Static and class methods stay what they are; on an object or module, what is set is called as it is."""
    if inspect.isclass(owner):
        static = inspect.getattr_static(owner, name)
        if isinstance(static, (staticmethod, classmethod)):
            return type(static)(recorded)
    return recorded


def _named(owner):
    return owner.__name__ if inspect.isclass(owner) or inspect.ismodule(owner) else type(owner).__name__
