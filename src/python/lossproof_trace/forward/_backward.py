"""The gradients of one call's tensors, in each backward pass that reaches them, until it is a `trained` record.

The logits come first, where they are there at all, the hidden states behind them. Where both speak, the logits tell; the
hidden states' gradient is then the end of the pass for this call, unless the graph is walked again.
"""

import torch

from ..gradient._recovery import coarsest
from . import _beside, _head_rows
from ._passes import Pass, hidden_result, logits_result
from ._told import tell_blind


def on_loss(forward):
    """A loss of a model whose inner parts are not seen: that it was reached, and nothing was told, is told."""
    with forward.session.guard("backward"):
        opened(forward)


def on_logits(forward, piece, gradient):
    with forward.session.guard("backward"):
        # A compiled model's logits that nothing was made of have a hook, and no gradient.
        if piece.dead or gradient is None:
            return
        now = opened(forward)
        forward.logits_spoke = True
        gradient = gradient.detach().reshape(-1, forward.vocab)
        found, rows, columns = logits_result(forward, piece, gradient)
        _beside.through_logits(forward, piece, gradient, found.at)
        _head_rows.from_logits(forward, piece, gradient, found)
        now.add("logits", found, rows, columns, coarsest(piece.dtype, forward.precision))


def on_hidden(forward, gradient):
    with forward.session.guard("backward"):
        if gradient is None:
            return
        now = opened(forward)
        if forward.logits_spoke and not now.silent():
            forward.logits_spoke = False
            _beside.of_all(forward, gradient.detach())
            return
        forward.logits_spoke = False
        result = hidden_result(forward, gradient.detach())
        if result is not None:
            now.clear()
            now.add("hidden", *result)
            _head_rows.from_hidden(forward, result[0], result[3])


def opened(forward):
    """The Pass of the backward pass that is running."""
    task = torch._C._current_graph_task_id()
    if forward.current is None or forward.current.task != task:
        close(forward)
        forward.current = Pass(task, forward.session.in_grad())
        torch.autograd.Variable._execution_engine.queue_callback(lambda: close(forward))
    return forward.current


def close(forward):
    now, forward.current = forward.current, None
    if now is None:
        return
    with forward.session.guard("backward"):
        if now.route is None:
            tell_blind(forward)
        else:
            forward.session.write("trained", forward=forward.index, **now.fields(forward.session.grad_scale()))
            forward.session.surprises.append(now.surprise())
            if forward.session.slopes is not None:
                forward.session.slopes.trained(forward, now)
