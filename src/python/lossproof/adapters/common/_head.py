"""Logits given to a model whose loss is computed inside its own forward, and the loss weights read off the gradient.

TRL's chunked loss never asks the model for logits: it takes the last hidden states and the head's matrix. So the
hidden states are the logits and the matrix is the identity, which float32 multiplies by exactly."""

import contextlib

import torch

from ...testing import Table, replaced

# Below this |e_y - p|^2 the gradient of a confident token drowns in float32; see `readable`.
OBSERVABLE = 1e-3


@contextlib.contextmanager
def logits_given(model, logits):
    """The model with a backbone that returns `logits` (B, T, V) and an identity head of V columns."""
    table = Table(logits)
    head, backbone = model.get_output_embeddings(), model.base_model
    # Losses of transformers 4 look at the vocabulary's size beside the logits.
    sizes = [owner for owner in (model, model.config) if hasattr(owner, "vocab_size")]
    with contextlib.ExitStack() as stack:
        for owner in sizes:
            stack.enter_context(replaced(owner, vocab_size=logits.size(-1)))
        stack.enter_context(replaced(head, weight=table.lm_head.weight))
        stack.enter_context(replaced(backbone, forward=table.base_model))
        yield


def weights_of(step, logits, input_ids, labels):
    """(loss, dL/d logprob of each token (B, T)), where step(leaf) computes L and runs its backward pass.

    For a loss of single targets, dL/dlogits[t] = c (e_y - p) with y the target at t + 1 and c the weight asked for,
    so c is the projection of the gradient on e_y - p. Where nothing should be trained, y is the token itself: a
    gradient that should not be there still shows."""
    total, slope = _backward(step, logits)
    flat = readable(logits, input_ids, labels)
    if not torch.equal(flat, logits):
        _, slope = _backward(step, flat)
    direction = _directions(flat, input_ids, labels)
    weights = torch.zeros(labels.shape)
    weights[:, 1:] = ((slope * direction).sum(-1) / (direction * direction).sum(-1))[:, :-1]
    return total, weights


def readable(logits, input_ids, labels):
    """The logits with those positions made uniform whose target is too certain to show a weight in float32.

    The weight of a likelihood loss is the same at any logits; its value is taken from the given ones."""
    direction = _directions(logits, input_ids, labels)
    certain = (direction * direction).sum(-1, keepdim=True) < OBSERVABLE
    return torch.where(certain, torch.zeros_like(logits), logits)


def _backward(step, logits):
    leaf = logits.clone().requires_grad_(True)
    total = step(leaf)
    return total, torch.zeros_like(leaf) if leaf.grad is None else leaf.grad


def _directions(logits, input_ids, labels):
    """e_y - p at every position (B, T, V); the last one predicts nothing and gets its own token."""
    targets = torch.where(labels == -100, input_ids, labels)
    shifted = torch.cat([targets[:, 1:], targets[:, -1:]], dim=1)
    chances = torch.softmax(logits, dim=-1)
    return torch.nn.functional.one_hot(shifted, logits.size(-1)) - chances
