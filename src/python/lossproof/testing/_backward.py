"""The losses that a trainer calls backward on, while its own step runs: what the optimiser gets of them."""

from __future__ import annotations

import contextlib

import torch

from ._spy import Stopped
from ._replaced import replaced

TYPE_CHECKING = False  # as typing has it; to import that takes a trainer's time
if TYPE_CHECKING:
    from collections.abc import Iterator


class Backward:
    """One backward pass: `loss` (detached), `weight`, what it was called with in the place of 1, and the `leaves` that
    it reaches."""

    def __init__(self, graph: torch.Tensor, weight: torch.Tensor | None) -> None:
        self.graph, self.weight = graph, weight
        self.loss = graph.detach()
        self.leaves = _leaves(graph)

    def reaches(self, tensor: torch.Tensor) -> bool:
        """Whether the gradient of this leaf depends on the loss."""
        return any(leaf is tensor for leaf in self.leaves)

    def gradient(self, tensor: torch.Tensor) -> torch.Tensor:
        """d loss / d tensor, times the weight; zeros where the loss does not depend on it."""
        if not self.graph.requires_grad:
            return torch.zeros_like(tensor)
        weight = None if self.weight is None else self.weight.to(self.graph)
        (slope,) = torch.autograd.grad(self.graph, tensor, weight, retain_graph=True, allow_unused=True)
        return torch.zeros_like(tensor) if slope is None else slope


class Losses(list[Backward]):
    @property
    def total(self) -> torch.Tensor:
        """The sum of all, each with its weight, detached: the loss of the optimiser step."""
        return sum(((each.loss * (1 if each.weight is None else each.weight)).sum() for each in self), torch.zeros(()))

    def gradient(self, tensor: torch.Tensor) -> torch.Tensor:
        """What the optimiser gets for this tensor, whichever of the losses it is in; leaves .grad alone."""
        return sum((each.gradient(tensor) for each in self), torch.zeros_like(tensor))


@contextlib.contextmanager
def recorded_backward(stop: bool = False) -> Iterator[Losses]:
    """The losses that are backwarded inside the block, by loss.backward(), accelerate, or torch.autograd.backward.

    Gradients are accumulated as ever, and graphs are kept, so that gradient(tensor) may be asked behind the block, of
    what a spy saw as well. stop: leave the block at the first, before it runs."""
    losses = Losses()
    real = torch.autograd.backward
    token = Stopped("backward")

    def recorded(tensors, grad_tensors=None, retain_graph=None, *args, **kwargs):
        several = list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
        weights = list(grad_tensors) if isinstance(grad_tensors, (list, tuple)) else [grad_tensors] * len(several)
        losses.extend(Backward(tensor, weight) for tensor, weight in zip(several, weights))
        if stop:
            raise token
        return real(tensors, grad_tensors, True, *args, **kwargs)

    with replaced(torch.autograd, backward=recorded):
        try:
            yield losses
        except Stopped as reached:
            if reached is not token:
                raise
            return
    if stop and losses:
        raise RuntimeError("the code caught the stop at backward (`except:` or `except BaseException:`) and went on")


def _leaves(graph):
    if graph.grad_fn is None:
        return (graph,) if graph.requires_grad else ()
    found, seen, left = [], set(), [graph.grad_fn]
    while left:
        node = left.pop()
        if node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        left.extend(parent for parent, _ in node.next_functions if parent is not None)
    return tuple(found)
