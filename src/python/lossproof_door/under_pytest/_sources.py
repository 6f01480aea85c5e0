"""Whom `--lossproof` means: a command, the file that its tests are listed under, and the folder that it runs in."""

import importlib.util
import os
import sys
from pathlib import Path

from .._words import split

CONFIGURATIONS = ["lossproof.config.%s" % ending for ending in ("ts", "js", "mjs", "json")]


class NoSource(Exception):
    """It means nobody: one sentence."""


class Source:
    """A trainer under test. `command` None: that of the configuration."""

    def __init__(self, path, command, cwd, label=None, **options):
        self.path = path
        self.command = command
        self.cwd = cwd
        # Cases that fail are saved apart for each.
        self.label = label
        self.options = options

    @property
    def words(self):
        """As the user has named it."""
        return self.label or self.path.name


def source_of(text, folder, root):
    """Of one value of `--lossproof`, as typed in `folder`. Raises NoSource."""
    text = text.strip() or os.environ.get("LOSSPROOF_TRAINER", "").strip()
    if text == "":
        return Source(_configuration(folder), None, folder)
    whole = folder / text
    if whole.is_dir():
        raise NoSource("--lossproof %s: this is a folder; name the file of your adapter, as in `--lossproof adapter.py`" % text)
    if whole.is_file():
        if whole.name in CONFIGURATIONS:
            return Source(whole, None, whole.parent)
        return Source(whole, _run(whole), folder, label=_shown(whole, root))
    try:
        words = split(text)
    except ValueError as error:
        raise NoSource("--lossproof %s: %s" % (text, error))
    if len(words) == 1:
        raise NoSource("--lossproof %s: there is no such file in %s" % (text, folder))
    path = _file_in(words, folder)
    if path is None:
        raise NoSource(
            "--lossproof %r: no file of yours stands in this command, and its tests need one to be listed under; "
            "write it into lossproof.config.json as \"trainer\", and say `--lossproof` alone" % text
        )
    return Source(path, words, folder, label=text)


def _run(file):
    return [sys.executable, str(file)] if file.suffix == ".py" else [str(file)]


def _shown(file, root):
    try:
        return file.relative_to(root).as_posix()
    except ValueError:
        return str(file)


def _file_in(words, folder):
    for word in words[1:] + words[:1]:
        file = folder / word
        if os.sep in word or "." in word:
            if file.is_file():
                return file
    if "-m" in words[:-1]:
        module = words[words.index("-m") + 1]
        found = folder.joinpath(*module.split("."))
        for file in (found.with_suffix(".py"), found / "__main__.py"):
            if file.is_file():
                return file
        try:
            origin = getattr(importlib.util.find_spec(module), "origin", None)
        except (ImportError, ValueError):
            origin = None
        return None if origin is None else Path(origin)
    return None


def _configuration(folder):
    for place in [folder] + list(folder.parents):
        for name in CONFIGURATIONS:
            if (place / name).is_file():
                return place / name
    raise NoSource(
        "--lossproof names no trainer, and no lossproof.config.* stands in %s or above it; name your adapter, as in `--lossproof adapter.py`"
        % folder
    )
