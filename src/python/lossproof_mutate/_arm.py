"""Before the adapter's first line: this process waits to be changed, or imports a file that is."""

import os

FOLDER = "LOSSPROOF_MUTATE"
CHANGE = "LOSSPROOF_MUTATE_CHANGE"  # the id of the change that a fresh process imports


def arm():
    folder = os.environ[FOLDER]
    from . import _finder

    change = os.environ.get(CHANGE)
    if change:
        from ._told import told_change

        path, text = told_change(folder, change)
        _finder.install(_finder.Changed(path, text))
        return
    from ._lines import Lines
    from ._sources import Sources
    from ._told import asked

    sources = Sources(**asked(folder))
    lines = Lines(sources.may_be)
    _finder.install(_finder.Turn(folder, sources, lines))
    lines.start()
