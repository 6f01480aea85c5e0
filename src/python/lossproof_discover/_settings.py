"""Values for parameters that are configuration: what practice uses, by name, and never one at which a term is gone: with a temperature
of 1 who multiplies by it is as right as who divides. What was set is said in the adapter."""

import re
from dataclasses import dataclass

from ._words import words_of

# Rows of a group, where it is a number that a function is told.
GROUP = 4
# First that matches. Where a value is the op's own (gamma, kl_coef) the sources come before this.
_NUMBERS = (
    # Two numbers, so that bounds that are crossed are seen.
    (r"^(ppo_)?(clip|cliprange|clip_range|clip_ratio|clip_eps|clip_epsilon|clip_param|eps_clip|epsilon)_?(low|min|lower)$", r"", "0.2"),
    (r"^(ppo_)?(clip|cliprange|clip_range|clip_ratio|clip_eps|clip_epsilon|clip_param|eps_clip|epsilon)_?(high|max|upper)$", r"", "0.28"),
    (r"^(clip_ratio_c|dual_clip|dual_clip_ratio)$", r"", "3.0"),
    (r"^(ppo_)?(clip|cliprange|clip_range|clip_ratio|clip_eps|clip_epsilon|clip_param|eps_clip)$", r"", "0.2"),
    (r"^(clip|cliprange|clip_range|clip_eps|eps_clip)_?(value|values|vf|v)$|^(value|values|vf|v)_?(clip|cliprange|clip_range|clip_eps|clip_param|eps_clip)$", r"", "0.5"),
    (r"^(gamma|discount|lam|lambd|gae_lambda)$", r"", "0.9"),
    (r"temperature", r"", "0.7"),
    (r"^eps|epsilon|_eps$", r"", "1e-4"),
    (r"smooth", r"", "0.1"),
    (r"beta", r"", "0.1"),
    (r"ent(ropy)?_?(coef|coeff|weight|bonus)", r"", "0.01"),
    (r"kl_?(coef|coeff|weight|beta)", r"", "0.1"),
    (r"coef|coeff|weight", r"", "0.1"),
    (r"num_generations|group_size|n_samples|samples_per|rollout_n|num_samples|^n$|^k$|^g$|per_prompt|n_resp", r"", "GROUP"),
    (r"ignore", r"", "-100"),
    (r"pad", r"", "0"),
    (r"size|num|count|steps|world", r"", "1"),
)


def number_of(name):
    """The text of a value, "GROUP" for the size of a group, or None."""
    low = name.lower()
    for first, second, value in _NUMBERS:
        if re.search(first, low) and re.search(second, low):
            return value
    return None


def switched_on(parameter):
    """The number of a term that is known and off by default: a function is called with it as with another of its modes. Or None."""
    is_off = parameter.default in ("0", "0.0") and "smooth" in parameter.name.lower()
    return number_of(parameter.name) if is_off else None


def values_of(parameter):
    """Texts to try for a parameter without a default that no data goes into, best first."""
    if parameter.choices:
        return [repr(choice) for choice in parameter.choices]
    if parameter.kind == "bool":
        return ["True", "False"]
    number = number_of(parameter.name)
    if number is not None and parameter.kind in ("any", "int", "float"):
        return [number]
    if words_of(parameter.name) & {"config", "cfg", "args", "tokenizer", "group"}:
        return ["None"]
    return []


@dataclass(frozen=True)
class Text:
    """An expression, and the numbers in it, (name, text): those that nobody but practice gave, and those that are the project's own.
    `sources`: what of it the op itself is sent."""

    text: str
    invented: tuple = ()
    own: tuple = ()
    sources: tuple = ()


def tree_of(attributes):
    """{"actor.eps": "attribute"} as {"actor": {"eps": "attribute"}}."""
    tree = {}
    for chain, how in attributes.items():
        *way, last = chain.split(".")
        at = tree
        for part in way:
            if not isinstance(at.setdefault(part, {}), dict):
                at[part] = {}
            at = at[part]
        at[last] = how
    return tree


def settings_text(tree, owner=None, known=lambda _: None, of_op=lambda _: None):
    """`Settings(clip_ratio=0.2, actor=Settings(...))` of the names that are read; `instance(OWNER, ...)` of a class. `known` has
    an object of the project's own for a part of them, a Text, or None; `of_op` what the op is sent under a name, a source, or None."""
    given = {}
    for name, below in tree.items():
        source = None if isinstance(below, dict) or below == "mapping" else of_op(name)
        if isinstance(below, dict):
            given[name] = known(below) or settings_text(below, None, known, of_op)
        elif below == "mapping":
            given[name] = Text("{}")
        elif source is not None:
            given[name] = Text(source.text, sources=(source,))
        else:
            number = number_of(name)
            number = str(GROUP) if number == "GROUP" else number
            given[name] = Text(number, ((name, number),)) if number else Text("None")
    return joined("Settings" if owner is None else "instance", given, owner)


def joined(called, given, first=None):
    """A call with these Texts by name."""
    inside = ([first] if first else []) + ["%s=%s" % (name, each.text) for name, each in given.items()]
    texts = given.values()
    parts = [tuple(pair for each in texts for pair in getattr(each, kind)) for kind in ("invented", "own", "sources")]
    return Text("%s(%s)" % (called, ", ".join(inside)), *parts)
