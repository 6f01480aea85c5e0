"""Random numbers that a script did not seed are the same in all runs of a twin. Seeds of its own win: they are set later."""

import functools
import random

SEED = 20240229


def begin():
    """Before the script's first line."""
    random.seed(SEED)


def numpy(module):
    """numpy is imported."""
    module.random.seed(SEED)
    original = module.random.default_rng

    @functools.wraps(original)
    def default_rng(seed=None):
        return original(SEED if seed is None else seed)

    module.random.default_rng = default_rng


def torch(torch):
    torch.manual_seed(SEED)
    torch.random.seed = lambda: torch.manual_seed(SEED) and SEED
    torch.seed = torch.random.seed


def dropout(torch, told, kept):
    """Says whether there is any. Changes that draw in another order, or for other shapes, cannot have the same dropout: then no run
    has any (`kept` False)."""
    functional = torch.nn.functional
    is_compiling = torch.compiler.is_compiling if hasattr(torch, "compiler") else (lambda: False)

    def watched(original):
        @functools.wraps(original)
        def dropped(input, p=0.5, training=True, *args, **kwargs):
            if training and p > 0:
                # A graph has no calls of ours in it.
                if not is_compiling():
                    told()
                if not kept:
                    return input
            return original(input, p, training, *args, **kwargs)

        return dropped

    for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
        if hasattr(functional, name):
            setattr(functional, name, watched(getattr(functional, name)))
    attention = functional.scaled_dot_product_attention

    @functools.wraps(attention)
    def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, *args, **kwargs):
        if dropout_p > 0 and not is_compiling():
            told()
        return attention(query, key, value, attn_mask, dropout_p if kept else 0.0, *args, **kwargs)

    functional.scaled_dot_product_attention = scaled_dot_product_attention
