"""What the optimiser really weighs, for trainers on torch."""

from __future__ import annotations

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def gradient(loss_fn: Callable[[Any], Any], logprobs: Any) -> tuple[Any, Any]:
    """(loss, dL/dlogprobs) by autograd, both detached; the second has the shape of `logprobs`.

    loss_fn: a function of one tensor that returns a scalar tensor, as the trainer's own loss with everything else
    fixed. A loss that does not depend on logprobs gives zeros, as the optimiser would see it."""
    import torch

    leaf = torch.as_tensor(logprobs).detach().clone().requires_grad_(True)
    loss = loss_fn(leaf)
    if not torch.is_tensor(loss) or loss.numel() != 1:
        raise TypeError("the loss function must return a tensor with one element")
    if not loss.requires_grad:
        return loss.detach(), torch.zeros_like(leaf)
    (slope,) = torch.autograd.grad(loss, leaf, allow_unused=True)
    return loss.detach(), torch.zeros_like(leaf) if slope is None else slope
