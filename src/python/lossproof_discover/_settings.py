"""Values for parameters that are configuration: what practice uses, by name. What was set is said in the adapter."""

import re
from dataclasses import dataclass

from ._words import words_of

# First that matches. Where a value is the op's own (gamma, kl_coef) the sources come before this.
_NUMBERS = (
    # Two numbers, so that bounds that are crossed are seen.
    (r"^(ppo_)?(clip|cliprange|clip_range|clip_ratio|clip_eps|clip_epsilon|clip_param|eps_clip|epsilon)_?(low|min|lower)$", r"", "0.2"),
    (r"^(ppo_)?(clip|cliprange|clip_range|clip_ratio|clip_eps|clip_epsilon|clip_param|eps_clip|epsilon)_?(high|max|upper)$", r"", "0.28"),
    (r"^(clip_ratio_c|dual_clip|dual_clip_ratio)$", r"", "3.0"),
    (r"^(ppo_)?(clip|cliprange|clip_range|clip_ratio|clip_eps|clip_epsilon|clip_param|eps_clip)$", r"", "0.2"),
    (r"^(clip|cliprange|clip_range|clip_eps|eps_clip)_?(value|values|vf|v)$|^(value|values|vf|v)_?(clip|cliprange|clip_range|clip_eps|clip_param|eps_clip)$", r"", "0.5"),
    (r"^(gamma|discount|lam|lambd|gae_lambda)$", r"", "1.0"),
    (r"temperature", r"", "1.0"),
    (r"^eps|epsilon|_eps$", r"", "1e-4"),
    (r"smooth", r"", "0.0"),
    (r"beta", r"", "0.1"),
    (r"ent(ropy)?_?(coef|coeff|weight|bonus)", r"", "0.0"),
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
    """An expression, and the numbers in it, (name, text): those that nobody but practice gave, and those that are the project's own."""

    text: str
    invented: tuple = ()
    own: tuple = ()


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


def settings_text(tree, owner=None, known=lambda _: None):
    """`Settings(clip_ratio=0.2, actor=Settings(...))` of the names that are read; `instance(OWNER, ...)` of a class. `known` has
    an object of the project's own for a part of them, a Text, or None."""
    invented, own, given = [], [], []
    for name, below in tree.items():
        if isinstance(below, dict):
            inner = known(below) or settings_text(below, None, known)
            text, invented, own = inner.text, invented + list(inner.invented), own + list(inner.own)
        elif below == "mapping":
            text = "{}"
        else:
            number = number_of(name)
            text = number or "None"
            invented += [(name, number)] if number else []
        given.append("%s=%s" % (name, text))
    inside = ", ".join(given)
    whole = "Settings(%s)" % inside if owner is None else "instance(%s)" % ", ".join([owner, *given])
    return Text(whole, tuple(invented), tuple(own))
