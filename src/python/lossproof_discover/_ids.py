"""Special ids that a function does not take: constants of its module, and attributes of objects there, such as a tokenizer."""

import inspect

from ._words import words_of

# What may stand beside `eos` or `pad` in the name of an id; `pad_to_multiple_of` is none.
_OF_AN_ID = {"ids", "token", "tokens"}
# Of a tokenizer.
_USUAL = {"eos_token_id", "pad_token_id"}
# Functions that call functions, from the one that is asked about.
_DEEPEST = 4


def fixed_ids(module, name):
    """{"EOS": ("eos", [1])}: names that the function reads, and the ids that they have; {} where it is handed all of them."""
    found = {}
    _of(_function(module, name), found, set(), 0)
    parts = {part for part, _ in found.values()}
    # As in `_of`: of PAD and EOS.
    for other, value in vars(module).items() if len(parts) == 1 else ():
        if _part(other) not in parts:
            _take(found, other, value)
    return found


def _function(module, name):
    found = module
    for part in name.split("."):
        found = inspect.getattr_static(found, part, None)
    if inspect.isclass(found):
        found = next((vars(found)[each] for each in ("forward", "__call__") if each in vars(found)), None)
    return inspect.unwrap(getattr(found, "__func__", found))


def _of(function, found, seen, depth):
    if not inspect.isfunction(function) or function in seen or depth > _DEEPEST:
        return
    seen.add(function)
    read = set(_names(function.__code__))
    for name in sorted(read & set(function.__globals__)):
        value = function.__globals__[name]
        if inspect.isfunction(value):
            if value.__globals__ is function.__globals__:
                _of(value, found, seen, depth + 1)
            continue
        _take(found, name, value)
        attributes = {each for each in read if _part(each)}
        if not attributes or inspect.ismodule(value) or inspect.isclass(value):
            continue
        # Who reads one of the two may be wrong because the other is the same id.
        for each in sorted(attributes | _USUAL):
            # An attribute may be computed, and may raise anything.
            try:
                _take(found, "%s.%s" % (name, each), getattr(value, each, None))
            except Exception:
                pass


def _names(code):
    yield from code.co_names
    for each in code.co_consts:
        if inspect.iscode(each):
            yield from _names(each)


def _part(name):
    """`eos` or `pad`, where the name is that of an id; or ""."""
    said = words_of(name) - _OF_AN_ID
    return said.pop() if len(said) == 1 and said <= {"eos", "pad"} else ""


def _take(found, name, value):
    part = _part(name.rpartition(".")[2])
    ids = list(value) if isinstance(value, (list, tuple, set, frozenset)) else [value]
    if part and ids and all(type(each) is int and each >= 0 for each in ids):
        found[name] = (part, sorted(ids) if isinstance(value, (set, frozenset)) else ids)
