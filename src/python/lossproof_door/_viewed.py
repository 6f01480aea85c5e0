"""`lossproof.view`: the masks of a data set, as text and as the page that `lossproof view --html` writes."""

from __future__ import annotations

import html
import json
import os
import subprocess
import tempfile

from ._ctrl_c import CtrlC
from ._engine import EngineProblem
from ._node import engine_command, engine_environment, start

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ._declared import Path

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


def view(data: Path | Sequence[Mapping[str, Any]], **options: Any) -> View:
    """Raises EngineProblem with the engine's sentence where nothing can be shown."""
    typed = []
    for name, value in options.items():
        if value is not None:
            typed += ["--" + name.replace("_", "-")] + ([] if value is True else [_word(value)])
    rows = None
    if isinstance(data, (list, tuple)):
        rows = "".join(json.dumps(row) + "\n" for row in data)
    with tempfile.TemporaryDirectory(prefix="lossproof-") as folder:
        file = os.path.join(folder, "view.html")
        command = engine_command(["view", "-" if rows is not None else os.fspath(data), "--html", file] + typed)
        code, shown, said = _run(command, None if rows is None else rows.encode("utf-8"))
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
            env=dict(engine_environment(), NO_COLOR="1"),
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


def _word(value):
    if isinstance(value, (list, tuple)):
        return ",".join(str(each) for each in value)
    return os.fspath(value) if hasattr(value, "__fspath__") else str(value)
