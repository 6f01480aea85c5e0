"""Dropout of a model: how likely at most where it is on, and where it is off."""

import functools
import weakref

import torch
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


class Functions:
    """Dropout by the function, whatever mode the model is in: what a call without gradients drops. The functions are wrapped once a
    model in evaluation mode is called so: nobody else pays for it."""

    def __init__(self, session, local):
        self.session, self.local, self.watching = session, local, False

    def called(self, module):
        if not self.watching and not module.training and not torch.is_grad_enabled() and not self.session.one_graph:
            self.watching = True
            self.watch()

    def watch(self):
        functional = torch.nn.functional
        drop, attend = functional.dropout, functional.scaled_dot_product_attention

        @functools.wraps(drop)
        def dropout(input, p=0.5, training=True, inplace=False):
            if training:
                self.saw(p)
            return drop(input, p, training, inplace)

        @functools.wraps(attend)
        def scaled_dot_product_attention(query, key, *args, **kwargs):
            # The value and the mask come first.
            self.saw(kwargs.get("dropout_p", args[2] if len(args) > 2 else 0.0))
            return attend(query, key, *args, **kwargs)

        functional.dropout = dropout
        functional.scaled_dot_product_attention = scaled_dot_product_attention

    def saw(self, p):
        frame = self.local.frame
        if frame is not None and not is_compiling() and not torch.is_grad_enabled() and _is_probability(p):
            frame.dropped = max(frame.dropped, float(p))


is_compiling = torch.compiler.is_compiling if hasattr(torch, "compiler") else (lambda: False)
