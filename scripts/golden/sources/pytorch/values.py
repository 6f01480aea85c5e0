"""The loss of a critic in torch float64, with its gradient by autograd."""

import torch

from sources.entries import entry
from sources.pytorch.inputs import Draw, tensor, wire
from sources.pytorch.loss import SOURCE, aggregate

MASK = [[0, 1, 1, 1, 1], [0, 0, 1, 0, 1], [1, 1, 1, 0, 0]]
EMPTY = [[1, 1, 0], [0, 0, 0], [1, 1, 1]]


def value(id, draw, settings, mask=MASK):
    rows, columns = len(mask), len(mask[0])
    values = draw.matrix(rows, columns, -2, 2)
    given = {
        "values": values,
        # Near enough that some values are within their clip and others beyond it, on either side.
        "old_values": [[x + draw.number(-0.8, 0.8) for x in row] for row in values],
        "returns": [[x + draw.number(-2, 2) for x in row] for row in values],
        "mask": mask,
    }
    now, old, target = tensor(values).requires_grad_(), tensor(given["old_values"]), tensor(given["returns"])
    loss = torch.square(now - target)
    if settings["clip"] is not None:
        clipped = old + torch.clamp(now - old, -settings["clip"], settings["clip"])
        loss = torch.maximum(loss, torch.square(clipped - target))
    selected = torch.tensor(mask).bool()
    total = settings["factor"] * aggregate(loss, selected, {**settings, "norm": 1.0})
    total.backward()
    answer = {"loss": total, "weights": now.grad, "tokens": int(selected.sum())}
    how = "the loss in torch's own functions; weights are its gradient by the values"
    return entry(id, SOURCE, how, "value-loss", {**given, "settings": settings}, wire(answer))


def settings(aggregation="token-mean", factor=0.5, clip=0.2, **more):
    return {"aggregation": aggregation, "factor": factor, "clip": clip, **more}


def entries():
    draw = Draw(4)
    means = "seq-mean-token-mean"
    return {
        "value-loss": [
            value("clipped", draw, settings()),
            value("clipped-far", draw, settings(clip=0.5)),
            value("not-clipped", draw, settings(clip=None)),
            value("without-the-half", draw, settings(factor=1.0)),
            value("row-mean", draw, settings(means)),
            value("row-sum", draw, settings("seq-mean-token-sum", clip=None)),
            value("empty-row-counted", draw, settings(means, emptyRows="count"), EMPTY),
            value("empty-row-skipped", draw, settings(means, emptyRows="skip"), EMPTY),
            value("nothing-trained", draw, settings(), [[0, 0], [0, 0]]),
        ]
    }
