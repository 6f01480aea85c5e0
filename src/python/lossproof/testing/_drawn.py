"""What a function draws tokens with, when all that it returns are the tokens."""

from __future__ import annotations

import torch

from ._replaced import replaced

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def drawn_from(draw: Callable[[], Any], rows: int, vocabulary: int) -> torch.Tensor:
    """(rows, vocabulary): the probability of each token that `draw` returns, one a row.

    It is called once for each place of the weights that it hands to torch.multinomial, which answers with that place: what
    comes of a place may be another token, as where the weights were sorted. torch.distributions draws by it, too."""
    found = torch.zeros(rows, vocabulary)
    at, places = 0, 1
    while at < places:
        weights, tokens = _drawn(draw, at, rows)
        places = weights.shape[-1]
        weights = weights.reshape(rows, places)
        found[torch.arange(rows), tokens] += (weights / weights.sum(-1, keepdim=True))[:, at]
        at += 1
    return found


def _drawn(draw, place, rows):
    """(the weights of the one draw, the tokens that were returned) where this place is drawn."""
    seen = []

    def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
        if num_samples != 1:
            raise ValueError("drawn_from: it draws %d tokens at once" % num_samples)
        seen.append(input.detach().float())
        return torch.full((*input.shape[:-1], 1), place, dtype=torch.long)

    with replaced(torch, multinomial=multinomial), replaced(torch.Tensor, multinomial=multinomial):
        returned = draw()
    if len(seen) != 1:
        raise ValueError("drawn_from: torch.multinomial was called %d times, not once" % len(seen))
    return seen[0], _tokens(returned, rows)


def _tokens(returned, rows):
    parts = returned if isinstance(returned, (tuple, list)) and not all(isinstance(each, int) for each in returned) else [returned]
    for part in parts:
        tokens = torch.as_tensor(part) if isinstance(part, (int, list, torch.Tensor)) else None
        if tokens is not None and tokens.numel() == rows and not tokens.is_floating_point():
            return tokens.reshape(rows).long()
    raise ValueError("drawn_from: it returns no token a row")
