"""For notebooks and programs: `lossproof.check`, the properties of functions of this very process, and `lossproof.view`, the
masks of a data set. What they return shows itself in a cell."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from lossproof_door import _other
from lossproof_door._checked import Result, Verdict, check_command, check_functions
from lossproof_door._declared import SERVE, check_names
from lossproof_door._viewed import View
from lossproof_door._viewed import view as _view

from ._registry import collected, given_ops
from ._serve import answering

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from lossproof_door._declared import Declared, Level, Path
    from lossproof_door._viewed import Shown
    from typing_extensions import Unpack

    from ._serve import Answer

__all__ = ["Result", "Verdict", "View", "check", "view"]


def check(
    trainer: Mapping[str, Answer] | str | Sequence[Path] | None = None,
    name: str = "notebook",
    only: str | Sequence[str] | None = None,
    level: Level | None = None,
    cases: int | None = None,
    seed: int | None = None,
    known: Path | None = None,
    op_timeout: float | None = None,
    hello_timeout: float | None = None,
    strict: bool = False,
    **serve: Unpack[Declared],
) -> Result:
    """Which properties hold for a trainer: a Result, true where everything that was judged holds and something was.

    trainer: {"mask": function}, as `ops` of `lossproof.serve`; a command, as text or words; None: every function that is decorated
    with `@lossproof.op`. Functions are called here, by the thread that calls this.
    only, level, cases, seed, known, op_timeout and hello_timeout (seconds that an answer, and the first, may take), strict (what is
    legal and often not meant fails, too): as on the command line.
    The others are those of `lossproof.serve`: layout, semantics, tokens, tokenizer, dtype, tensors, arrays, version."""
    _other.warn()
    check_names("lossproof.check", serve, _CHECK + SERVE)
    asked = {"only": only, "level": level, "known": known, "strict": strict}
    asked.update(op_timeout=op_timeout, hello_timeout=hello_timeout)
    if trainer is None or isinstance(trainer, Mapping):
        # Two test files, or a cell and what it imports, may have one each of the same op.
        asking = sys._getframe(1).f_globals.get("__name__")
        functions = collected(None, asking) if trainer is None else given_ops(trainer)
        return check_functions(answering(functions, name, **serve), asked, cases, seed)
    if not isinstance(trainer, (str, list, tuple)):
        raise TypeError(_WHAT % (trainer, getattr(trainer, "__name__", "function")))
    if serve:
        raise TypeError("%s is for functions; a command says it itself, in lossproof.serve()" % ", ".join(sorted(serve)))
    return check_command(trainer, asked, cases, seed)


_CHECK = ("only", "level", "cases", "seed", "known", "op_timeout", "hello_timeout", "strict", "name")
_WHAT = (
    'lossproof.check takes {"op": function}, a command as text or words, or nothing for all functions decorated with @lossproof.op. '
    '%r is none of these. Name a function by the op that it answers, as {"mask": %s}'
)


def view(data: Path | Iterable[Mapping[str, Any]] | None = None, **options: Unpack[Shown]) -> View:
    """Which tokens of a data set are trained, and which rows are flagged.

    data: a file, or rows: a list, a Dataset of Hugging Face, whatever gives mappings; or nothing, where the configuration names it.
    Options are those of `lossproof view`: config, tokenizer, template, train_on, max_length, truncation_side, stop, rows, row, all, full, strip, html_rows, strict."""
    _other.warn()
    return _view(data, **options)
