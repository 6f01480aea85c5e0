"""Values for parameters that are configuration: what practice uses, by name. What was set is said in the adapter."""

import re

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


def settings_text(attributes, owner=None):
    """`Settings(clip_ratio=0.2, actor=Settings(...))` of the names that are read; `instance(OWNER, ...)` of a class."""
    tree = {}
    for chain, how in attributes.items():
        *way, last = chain.split(".")
        at = tree
        for part in way:
            at = at.setdefault(part, {})
            if not isinstance(at, dict):
                return "Settings()"
        at[last] = "{}" if how == "mapping" else (number_of(last) or "None")
    text = _text(tree)
    return text if owner is None else "instance(%s%s%s)" % (owner, ", " if tree else "", text[len("Settings(") : -1])


def _text(tree):
    inside = ("%s=%s" % (name, _text(value) if isinstance(value, dict) else value) for name, value in tree.items())
    return "Settings(%s)" % ", ".join(inside)
