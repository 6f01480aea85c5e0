"""A project's own configuration, with its own defaults: what it trains with is likelier in there than in what practice uses."""

import dataclasses
import re

from ._guard import Refused, TooLong, within
from ._settings import Text, joined, settings_text, tree_of
from ._words import words_of

# Of a constructor; one that takes longer loads something.
# bound (cpu): `discover`: building one object of the project's configuration; the class is not used
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

    def texts(self, attributes, annotation="", of_op=lambda _: None):
        """[(Text, score)], best first: its own object, one of its class with what that lacks made up, one that is made up. What the
        op is sent under a name is never a default."""
        tree = tree_of(attributes)
        named = [name for name in re.findall(r"\w+", annotation) if name in self._known]
        for name in [*named, *self._own]:
            text = self._of_own(name, tree, of_op)
            if text is not None:
                return [(text, 0.7)]
        within_it = self._nested(of_op)
        found = []
        for name in named:
            defaults = _defaults(self._known[name])
            lacking = {key: value for key, value in tree.items() if key not in defaults or isinstance(value, dict) or of_op(key)}
            if len(lacking) < len(tree):
                found.append((settings_text(lacking, "%s.%s" % (self._prefix, name), within_it, of_op), 0.6))
        found.append((settings_text(tree, None, within_it, of_op), 0.5))
        found += [(settings_text(tree, "%s.%s" % (self._prefix, name), within_it, of_op), 0.4) for name in named]
        return found

    def of_self(self, attributes, owner, of_op=lambda _: None):
        """An object of a class without its constructor: what its methods read of it."""
        return settings_text(tree_of(attributes), owner, self._nested(of_op), of_op)

    def made(self, annotation):
        """The text of an object for a constructor's parameter, by its annotation alone; None where none can be made."""
        for name in re.findall(r"\w+", annotation):
            if name in self._known and _is_settings(name, self._known[name]) and self._object(name) is not None:
                return "%s.%s()" % (self._prefix, name)
        return None

    def _nested(self, of_op):
        """`self.cfg.clip_eps`: an object of the file's for what is read of `self.cfg`."""
        return lambda tree: next(filter(None, (self._of_own(name, tree, of_op) for name in self._own)), None)

    def _of_own(self, name, tree, of_op):
        """Its own object, which has what is read of it; None where it has not. Where the op is sent some of it, one of its class with that."""
        made = self._object(name)
        if not self._has(made, tree):
            return None
        owner = "%s.%s" % (self._prefix, name)
        given = _values(made, tree, of_op)
        text = joined("Settings", given)
        if not text.sources:
            return Text(owner + "()", own=text.own)
        # What stands in the class an object has without a constructor.
        sent = {key: each for key, each in given.items() if each.sources}
        if set(tree) - set(sent) <= _defaults(self._known[name]):
            text = Text(joined("instance", sent, owner).text, own=text.own, sources=text.sources)
        return text

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


def _values(made, tree, of_op):
    """{name: Text} of what is read of an object: what the op is sent, or what stands there."""
    given = {}
    for name, below in tree.items():
        value = getattr(made, name)
        source = None if isinstance(below, dict) else of_op(name)
        if isinstance(below, dict):
            given[name] = joined("Settings", _values(value, below, of_op))
        elif source is not None:
            given[name] = Text(source.text, sources=(source,))
        else:
            text = repr(value) if isinstance(value, _SIMPLE) else "None"
            given[name] = Text(text, own=((name, text),) if type(value) in (int, float) else ())
    return given


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

