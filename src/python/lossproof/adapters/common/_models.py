"""Checkpoints that the harness hands over: a trainer for each, kept by its path, and what a step on one leaves behind."""

import contextlib
import functools
import os
import tempfile

from ._tiny import tiny_model, transformers  # first of these: it says what is missing where there is no torch

import torch
from safetensors.torch import save_file

# As many as there are checkpoints of one kind of check, each a tiny model and the trainer around it.
KEPT = 12


def kept(build):
    """Decorator: build(path) is asked once for each path."""
    return functools.lru_cache(maxsize=KEPT)(build)


@contextlib.contextmanager
def initial(tokenizer, model=None):
    """The folder of a checkpoint: the one given, or the adapter's own tiny model for the length of the block."""
    if model is not None:
        yield model
        return
    with tempfile.TemporaryDirectory(prefix="lossproof-") as folder:
        tiny_model(len(tokenizer)).save_pretrained(folder)
        yield folder


@kept
def frozen(path):
    """The model of a checkpoint as a reference: in evaluation mode, without gradients."""
    model = transformers.AutoModelForCausalLM.from_pretrained(path)
    return model.eval().requires_grad_(False)


def descend(model, loss, learning_rate, folder):
    """Saves the model one step of plain gradient descent further on, and leaves it as it is."""
    # Parameters that are shared have one name here, and one gradient.
    parameters = list(model.parameters())
    _save(model, torch.autograd.grad(loss, parameters, allow_unused=True), learning_rate, folder)


def stepped(model, learning_rate, folder):
    """The same by the gradients that it has, which are gone afterwards."""
    _save(model, [parameter.grad for parameter in model.parameters()], learning_rate, folder)
    model.zero_grad()


def _save(model, gradients, learning_rate, folder):
    os.makedirs(folder)
    moved = {
        name: (parameter if gradient is None else parameter - learning_rate * gradient).detach().contiguous()
        for (name, parameter), gradient in zip(model.named_parameters(), gradients)
    }
    save_file(moved, os.path.join(folder, "model.safetensors"))
