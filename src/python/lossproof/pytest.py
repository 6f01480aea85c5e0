"""For tests: an adapter that lives in the test file, and a training script whose ledger is asserted on.

    import lossproof

    @lossproof.op
    def mask(sequences, attention_mask, prompt_width): ...

    test_my_trainer = lossproof.pytest.properties(name="mine", only="mask")
"""

from __future__ import annotations

from lossproof_door._declared import SERVE, Properties, check_names

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossproof_door._declared import Declared, Level, Path
    from lossproof_door._traced import Ledger, NotTraced, Row, Told
    from typing_extensions import Unpack

__all__ = ["Ledger", "NotTraced", "Properties", "Row", "properties", "trace"]

# What a trace needs is imported with the first.
_TRACED = ("Ledger", "NotTraced", "Row")


def properties(
    name: str | None = None,
    only: str | Sequence[str] | None = None,
    level: Level | None = None,
    known: Path | None = None,
    cases: int | None = None,
    strict: bool | None = None,
    **serve: Unpack[Declared],
) -> Properties:
    """A test for each property of the functions of this file that are decorated with `@lossproof.op`.

    only, level, known, cases, strict: as on the command line. The others are those of `lossproof.serve`; name is that of the variable
    where none is given. The file is imported once more, in a process of its own, which answers the harness."""
    check_names("lossproof.pytest.properties", serve, ("name", "only", "level", "known", "cases", "strict") + SERVE)
    return Properties(name, only, level, known, cases, strict, serve)


def trace(
    script: Path | Sequence[Path],
    *args: object,
    steps: int | None = None,
    keep_going: bool = False,
    python: Path | None = None,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    **options: Unpack[Told],
) -> Ledger:
    """Runs `python SCRIPT ARGS...` as it is until its first steps are made, and returns its Ledger.

    steps (2), keep_going (False), python (this one), cwd, env (over this process's), and options of `lossproof trace`: dataset,
    train_on, tokenizer, marks, semantics, only, level, known, strict, mode. `script` may also be a whole command, as a list.
    Raises NotTraced, an AssertionError, where nothing was seen of a training, or an option cannot be meant."""
    from lossproof_door import _other
    from lossproof_door._traced import trace as run

    _other.warn()
    return run(script, args, steps, keep_going, python, cwd, env, options)

if not TYPE_CHECKING:  # else any name would do

    def __getattr__(name):
        if name not in _TRACED:
            raise AttributeError("module %r has no attribute %r" % (__name__, name))
        from lossproof_door import _traced

        return getattr(_traced, name)
