"""Rows that hold several examples, as their positions say: whether attention lets one see those before it. Read off the mask that
scaled_dot_product_attention is given in a call for training; other attention is not seen. The function is wrapped once such a row was
trained, so that nobody else pays for it: the first call of a training tells nothing."""

import functools

import torch

from . import _arguments

# Beginnings of examples that are looked at in one call.
MOST_SEAMS = 32
# Masks are added to scores: what is hidden gets less than this.
HIDDEN = -1e4


class Packing:
    def __init__(self, session, local):
        self.session, self.local, self.watching = session, local, False

    def trained(self, positions, mask):
        """A forward pass for training had these positions (B, T), or None."""
        if positions is not None and not self.watching and not self.session.one_graph and seams(positions, mask):
            self.watching = True
            self.watch()

    def watch(self):
        functional = torch.nn.functional
        original = functional.scaled_dot_product_attention
        is_compiling = torch.compiler.is_compiling if hasattr(torch, "compiler") else (lambda: False)

        @functools.wraps(original)
        def scaled_dot_product_attention(query, key, *args, **kwargs):
            frame = self.local.frame
            if not is_compiling() and frame is not None and frame.across is None and torch.is_grad_enabled():
                with self.session.guard("attention"):
                    # The value comes first.
                    mask = kwargs.get("attn_mask", args[1] if len(args) > 1 else None)
                    frame.across = across(frame, query, key, mask)
            return original(query, key, *args, **kwargs)

        functional.scaled_dot_product_attention = scaled_dot_product_attention


def seams(positions, mask):
    """[(row, column)] of the first of those that begin an example behind another one."""
    begins = (positions[:, 1:] == 0) & (positions[:, :-1] != 0)
    if mask is not None:
        begins = begins & (mask[:, 1:] != 0) & (mask[:, :-1] != 0)
    return [(row, column + 1) for row, column in begins.nonzero()[:MOST_SEAMS].tolist()]


def across(frame, query, key, mask):
    """Whether the first token of an example may look at the last one before it; None: it has no such row, or the call is another."""
    if frame.ids is None:
        return None
    rows, columns = frame.ids.shape
    positions = _arguments.same_shape(frame.named, "position_ids", frame.ids.shape)
    if positions is None or query.shape[-2] != columns or key.shape[-2] != columns:
        return None
    found = seams(positions, _arguments.mask_of(frame.named, frame.ids.shape)[0])
    if not found:
        return None
    if mask is None:
        return True
    # (B or 1, H or 1, T, T), or without the first of them.
    mask = mask.reshape(-1, *mask.shape[-3:]) if mask.ndim > 2 else mask[None, None]
    if mask.shape[-1] != columns or mask.shape[0] not in (1, rows):
        return None
    seen = torch.stack([mask[row % mask.shape[0], 0, at if mask.shape[-2] > 1 else 0, at - 1] for row, at in found])
    return bool((seen if seen.dtype == torch.bool else seen > HIDDEN).any())
