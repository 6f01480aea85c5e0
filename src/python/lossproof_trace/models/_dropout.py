"""Dropout of a model: how likely at most where it is on, and where it is off."""

import weakref

from torch import nn

# As configurations and layers name the probability where they call the function themselves.
NAMES = ("attention_dropout", "dropout", "dropout_p", "p_dropout", "attn_dropout", "attn_pdrop", "resid_pdrop", "activation_dropout")

_sources = weakref.WeakKeyDictionary()


def dropout_of(root):
    """(largest probability of parts in training mode, of parts in evaluation mode); 0.0 without."""
    on = off = 0.0
    for reference, name in _sources_of(root):
        module = reference()
        value = getattr(module, name, 0.0) if module is not None else 0.0
        value = float(value) if _is_probability(value) else 0.0
        if module is not None and module.training:
            on = max(on, value)
        else:
            off = max(off, value)
    return on, off


def _sources_of(root):
    known = _sources.get(root)
    if known is None:
        known = []
        for module in root.modules():
            if isinstance(module, nn.modules.dropout._DropoutNd):
                known.append((weakref.ref(module), "p"))
                continue
            held = vars(module)
            known += [(weakref.ref(module), name) for name in NAMES if _is_probability(held.get(name))]
        _sources[root] = known
    return known


def _is_probability(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1
