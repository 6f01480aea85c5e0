"""What users say by keywords, and an adapter that lives in a test file: what `lossproof.pytest.properties` was given, for the
plugin that tests it and for the process that serves it."""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Iterable, Mapping

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal, Union

    from typing_extensions import TypedDict

    Level = Literal["must", "should", "may"]
    Path = Union[str, os.PathLike[str]]

    class Declared(TypedDict, total=False):
        """What `lossproof.serve` is told of a trainer, beside its name and its functions."""

        version: str | None
        layout: Mapping[str, str] | None
        semantics: Mapping[str, Any] | None
        tokens: Mapping[str, Any] | None
        tokenizer: Path | None
        dtype: str | None
        max_length: int | None
        tensors: str | None
        arrays: Literal["numpy", "torch"] | None
        lacks: Mapping[str, str] | None
        notes: Sequence[str] | None


#: The same, for whoever looks at what was said.
SERVE = ("version", "layout", "semantics", "tokens", "tokenizer", "dtype", "max_length", "tensors", "arrays", "lacks", "notes")


class NoSuchOption(TypeError):
    """A keyword that means nothing: one sentence."""


def check_names(of: str, said: Iterable[str], known: Sequence[str]) -> None:
    """Raises NoSuchOption, before anything is started: a typing error must not become a trainer's."""
    for name in said:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = "did you mean %r?" % near[0] if near else "it has %s" % ", ".join(known)
            raise NoSuchOption("%s has no option %r, %s" % (of, name, hint))


def words_of(options: Mapping[str, Any]) -> list[str]:
    """As a command line says them: what is None or False is left out, several stand with commas, and what is no text is JSON."""
    words = []
    for name, value in options.items():
        if value is not None and value is not False:
            words += ["--" + name.replace("_", "-")] + ([] if value is True else [_word(value)])
    return words


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, Iterable) and not isinstance(value, Mapping):
        return ",".join(_word(each) for each in value)
    return json.dumps(value, default=plain)


def plain(value: Any) -> Any:
    """For JSON, which knows neither arrays nor mappings that are no dict."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError("JSON has no word for the type %s" % type(value).__name__)


class Properties:
    """What a test file declares of its trainer."""

    def __init__(
        self,
        name: str | None,
        only: str | Sequence[str] | None,
        level: Level | None,
        known: Path | None,
        cases: int | None,
        strict: bool | None,
        serve: Declared,
    ) -> None:
        self.name = name
        self.only = only
        self.level = level
        self.known = known
        self.cases = cases
        self.strict = strict
        self.serve = serve


def names(only: str | Sequence[str] | None) -> list[str] | None:
    """`only` as a list: ids, stages and globs; None: not said."""
    if only is None:
        return None
    return [only] if isinstance(only, str) else list(only)
