"""`lossproof.view`: the masks of a data set, as text and as the page that `lossproof view --html` writes."""

from __future__ import annotations

import html
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping

from ._ctrl_c import CtrlC
from ._declared import check_names, plain, words_of
from ._engine import EngineProblem
from ._node import engine_command, engine_environment, start

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Literal

    from typing_extensions import TypedDict, Unpack

    from ._declared import Path

    class Shown(TypedDict, total=False):
        """Options of `lossproof view`."""

        config: Path | None
        tokenizer: Path | None
        template: Path | None
        train_on: Literal["assistant", "last", "completion", "all"] | None
        max_length: int | None
        truncation_side: Literal["right", "left"] | None
        stop: str | Sequence[str | int] | None
        rows: int | None
        row: int | Sequence[int] | None
        all: bool
        full: bool
        strip: bool
        html_rows: int | None
        strict: bool

# docs/view.md
_SHOWN = (
    "config",
    "tokenizer",
    "template",
    "train_on",
    "max_length",
    "truncation_side",
    "stop",
    "rows",
    "row",
    "all",
    "full",
    "strip",
    "html_rows",
    "strict",
)
_PIXELS = 640


class View:
    """True where no row is flagged. Shows itself in a cell of a notebook."""

    def __init__(self, exit_code: int, text: str, page: str) -> None:
        self.exit_code = exit_code
        # As on a terminal, and a whole document.
        self.text = text
        self.page = page

    def __bool__(self) -> bool:
        return self.exit_code == 0

    def __repr__(self) -> str:
        return self.text.strip()

    def _repr_html_(self) -> str:
        # In a frame of its own: neither its styles nor its scripts reach the notebook.
        frame = '<iframe title="Masks of a data set" sandbox="allow-scripts" style="width:100%%;height:%dpx;border:0" srcdoc="%s"></iframe>'
        return frame % (_PIXELS, html.escape(self.page))


def view(data: Path | Iterable[Mapping[str, Any]] | None = None, **options: Unpack[Shown]) -> View:
    """`data` may be left out where `config`, the configuration of a trainer, names it. Raises EngineProblem with the engine's
    sentence where nothing can be shown."""
    check_names("lossproof.view", options, _SHOWN)
    is_named = data is None or isinstance(data, (str, os.PathLike))
    rows = None if is_named else _lines(data)
    named = [] if data is None else [os.fspath(data) if rows is None else "-"]
    with tempfile.TemporaryDirectory(prefix="lossproof-") as folder:
        file = os.path.join(folder, "view.html")
        command = engine_command(["view", *named, "--html", file] + words_of(options))
        code, shown, said = _run(command, rows)
        if not os.path.exists(file):
            raise EngineProblem(said.strip().replace("lossproof: ", "", 1) or "lossproof view ended with exit code %d." % code)
        with open(file, encoding="utf-8") as opened:
            return View(code, shown.replace("wrote %s\n" % file, ""), opened.read())


def _run(command, rows):
    """Its exit code, and what it writes to standard output and to standard error."""
    with CtrlC():
        with start(
            command,
            # Jupyter asks every program for colours, and a text is to be searched.
            env=dict(engine_environment(), NO_COLOR="1", LOSSPROOF_TIED="1"),
            stdin=subprocess.DEVNULL if rows is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            try:
                written = process.communicate(rows)
            except BaseException:
                process.kill()
                raise
        return process.returncode, *(text.decode("utf-8", "replace") for text in written)


def _lines(data):
    """Rows as JSON lines. Raises TypeError where one is none."""
    try:
        rows = enumerate(data, 1)
    except TypeError:
        raise TypeError("lossproof.view takes a file of JSON lines, or rows, and %r is neither" % (data,)) from None
    lines = []
    for number, row in rows:
        if not isinstance(row, Mapping):
            raise TypeError(_NO_ROW % (number, row))
        try:
            lines.append(json.dumps(dict(row), default=plain, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise TypeError("row %d: %s; leave that column out, or make it a text" % (number, error)) from None
    return "".join(line + "\n" for line in lines).encode("ascii")


_NO_ROW = (
    'row %d is %.60r, and a row is a mapping such as {"messages": [...]}; give a single row as [row], one part of a data set with '
    'several as data["train"], and a DataFrame as data.to_dict("records")'
)
