"""Whether the loss reaches a model beside the logits that are read: a second head, a value head, a term of the hidden states.
At a few positions the gradient of the hidden states is held against what the logits' gradient makes of it, G W: what is
more than that came another way, and what it trains nobody sees here."""

import torch

from ..gradient._recovery import coarsest

# Positions: each costs one product with the head's matrix.
FEW = 4
# Backward passes of a model; what a loss is made of does not change from step to step.
LOOKS = 4
# Of the gradient's length: above what sums over a vocabulary are rounded by, in single and in half precision.
SHARE, COARSE_SHARE = 1e-2, 0.1


def reads(forward, x, place):
    """Whether the head is given the hidden states themselves: else its gradient is that of something made of them."""
    hidden, start, width = forward.hidden, *place
    if hidden is None or forward.model.asked_beside >= LOOKS:
        return False
    given = x.detach().reshape(hidden.shape[0], width, -1)
    own = hidden[:, start : start + width]
    return given.shape == own.shape and given.dtype == own.dtype and torch.equal(given, own)


def through_logits(forward, piece, gradient, heard):
    """gradient (n, V) of a piece's logits, those of positions `heard` not 0; of the only piece, or nothing can be said."""
    forward.beside = None
    weight, _ = forward.model.weight()
    if not piece.reads or len(forward.pieces) != 1 or weight is None or weight.shape[0] != gradient.shape[1]:
        return
    at = heard[torch.linspace(0, heard.numel() - 1, min(FEW, heard.numel()), device=heard.device).round().long()]
    if at.numel() == 0 or weight.device != gradient.device:
        return
    fine = coarsest(piece.dtype, forward.precision) in ("float32", "float64")
    through = gradient[at].to(weight.dtype) @ weight
    forward.beside = (at // piece.width, at % piece.width + piece.start, through, SHARE if fine else COARSE_SHARE)


def of_all(forward, gradient):
    """gradient (B, T, d) of the hidden states, at the end of the same backward pass."""
    told, forward.beside = forward.beside, None
    if told is None or forward.model.asked_beside >= LOOKS:
        return
    forward.model.asked_beside += 1
    rows, columns, through, least = told
    if through.shape[-1] != gradient.shape[-1]:
        return
    whole = gradient[rows, columns].double()
    rest = (whole - through.double()).norm()
    share = float(rest / (rest + through.double().norm()).clamp(min=1e-300))
    if share > least:
        forward.session.write(
            "event", what="beside", step=forward.session.step, model=forward.model.index, place=None, names=[], values={"share": share}
        )
