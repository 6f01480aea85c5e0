"""A project's own configuration, with its own defaults: what it trains with is likelier in there than in what practice uses."""

import dataclasses
import re

from ._guard import Refused, TooLong, within
from ._settings import Text, settings_text, tree_of
from ._words import words_of

# Of a constructor; one that takes longer loads something.
_SECONDS = 1.0
_NAMED = {"config", "cfg", "conf", "args", "arguments", "settings", "hparams", "params", "options"}
_SIMPLE = (bool, int, float, str, type(None))
# What omegaconf has where a value must be given.
_UNSET = "???"
_MISSING = object()


class Configs:
    """The classes that a module knows. `texts` are ways to write one that has the names that are read of it."""

    def __init__(self, module, prefix):
        self._prefix = prefix
        self._known = {name: value for name, value in vars(module).items() if isinstance(value, type) and value.__module__ != "builtins"}
        self._own = [name for name, value in self._known.items() if value.__module__ == module.__name__ and _is_settings(name, value)]
        self._made = {}

    def texts(self, attributes, annotation=""):
        """[(Text, score)], best first: its own object, one of its class with what that lacks made up, one that is made up."""
        tree = tree_of(attributes)
        named = [name for name in re.findall(r"\w+", annotation) if name in self._known]
        for name in [*named, *self._own]:
            if self._has(self._object(name), tree):
                return [(self._text(name, tree), 0.7)]
        within_it = self._nested
        found = []
        for name in named:
            defaults = _defaults(self._known[name])
            lacking = {key: value for key, value in tree.items() if key not in defaults or isinstance(value, dict)}
            if len(lacking) < len(tree):
                found.append((settings_text(lacking, "%s.%s" % (self._prefix, name), within_it), 0.6))
        found.append((settings_text(tree, None, within_it), 0.5))
        found += [(settings_text(tree, "%s.%s" % (self._prefix, name), within_it), 0.4) for name in named]
        return found

    def of_self(self, attributes, owner):
        """An object of a class without its constructor: what its methods read of it."""
        return settings_text(tree_of(attributes), owner, self._nested)

    def made(self, annotation):
        """The text of an object for a constructor's parameter, by its annotation alone; None where none can be made."""
        for name in re.findall(r"\w+", annotation):
            if name in self._known and _is_settings(name, self._known[name]) and self._object(name) is not None:
                return "%s.%s()" % (self._prefix, name)
        return None

    def _nested(self, tree):
        """`self.cfg.clip_eps`: an object of the file's for what is read of `self.cfg`."""
        for name in self._own:
            if self._has(self._object(name), tree):
                return self._text(name, tree)
        return None

    def _text(self, name, tree):
        return Text("%s.%s()" % (self._prefix, name), own=tuple(_numbers(self._object(name), tree)))

    def _object(self, name):
        if name not in self._made:
            self._made[name] = _instance(self._known[name])
        return self._made[name]

    def _has(self, made, tree):
        if made is None:
            return False
        for name, below in tree.items():
            value = getattr(made, name, _MISSING)
            if value is _MISSING or (isinstance(value, str) and value == _UNSET):
                return False
            if isinstance(below, dict) and not self._has(value, below):
                return False
        return True


def _numbers(made, tree):
    """(name, text) of the numbers that are read of an object."""
    for name, below in tree.items():
        value = getattr(made, name)
        if isinstance(below, dict):
            yield from _numbers(value, below)
        elif type(value) in (int, float):
            yield name, repr(value)


def _is_settings(name, value):
    return dataclasses.is_dataclass(value) or hasattr(value, "_fields") or bool(words_of(name) & _NAMED)


def _instance(owner):
    try:
        with within(_SECONDS):
            return owner()
    except (Exception, TooLong, Refused, SystemExit):
        return None


def _defaults(owner):
    """Names that an object has without a constructor: what stands in the class."""
    if not dataclasses.is_dataclass(owner):
        return set()
    held = [(name, value) for each in owner.__mro__ for name, value in vars(each).items() if not name.startswith("_")]
    return {name for name, value in held if isinstance(value, _SIMPLE) and value != _UNSET}

