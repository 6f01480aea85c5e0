"""Models that are found in odd ways: methods called by the script itself, heads and tables of misleading sizes. A JSON line a
case, read by forward.test.ts. Needs torch alone."""

import inspect

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

import lossproof_trace
from watching import SESSION, B, T, V, batch, case, compare, loss_of, run


class Mixer(nn.Module):
    def __init__(self, width, wide):
        super().__init__()
        self.up, self.down = nn.Linear(width, wide), nn.Linear(wide, width)

    def forward(self, x):
        return x + self.down(torch.tanh(self.up(x))).cumsum(1)


class Net(nn.Module):
    """`seats`: rows of a table of positions with no telling name; `wide`: outputs of the layers inside; `padded`: more
    outputs of the head than rows of the table; `head` none: the table's weight; `loss`: nothing else is returned."""

    def __init__(self, seats=64, wide=24, padded=0, head=True, raw=False, width=16):
        super().__init__()
        self.seats = nn.Embedding(seats, width)
        self.table = nn.Parameter(torch.randn(V, width)) if raw else nn.Embedding(V, width)
        if raw:
            self.seats = None
        self.blocks = nn.Sequential(Mixer(width, wide), Mixer(width, wide))
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, V + padded, bias=False) if head else None

    def forward(self, words, aims=None):
        x = F.embedding(words, self.table) if self.seats is None else self.table(words) + self.seats(torch.arange(words.shape[1]))
        x = self.norm(self.mixed(x))
        weight = self.table if self.seats is None else self.table.weight
        logits = x @ weight.T if self.out is None else self.out(x)
        return logits if aims is None else F.cross_entropy(logits.flatten(0, 1), aims.flatten())

    def mixed(self, x):
        return self.blocks(x)

    def inference(self, words, start):
        return self.forward(words)[:, start:]


class Sequenced(Net):
    def mixed(self, x):
        return checkpoint_sequential(self.blocks, 2, x, use_reentrant=False)


class Predicts(nn.Module):
    """Its one method has another name."""

    def __init__(self):
        super().__init__()
        self.net = Net()

    @torch.no_grad()
    def sampled(self, words):
        return self.predict(words).argmax(-1)

    def predict(self, words):
        return self.net.norm(self.net.table(words)) @ self.net.table.weight.T


def trained(call, several=1):
    """The latest of `several` steps of a call by hand."""
    out = {}
    for at in range(several):
        SESSION.records.clear()
        ids, weights = batch()
        loss_of(call(ids)[:, :-1], ids[:, 1:], weights).backward()
        (record,) = SESSION.of("trained")
        out = compare(record, weights, ids[:, 1:])
    return out


@case
def methods_that_are_called_directly():
    signature = str(inspect.signature(Net.forward))
    out = {"first": trained(Net().forward)}
    out["later"] = trained(Net().forward, 2)

    class Another(Sequenced):
        pass

    class Tied(Net):
        def forward(self, words):
            return super().forward(words)

    out["checkpointed"] = trained(Another().forward, 2)
    out["tied"] = trained(Tied(head=False).forward)
    model = Predicts()
    out["another name"] = trained(model.predict, 2)

    class Watched(Net):
        def forward(self, words):
            return self.out(self.norm(self.mixed(self.table(words))))

    model = Watched()
    out["watched"] = trained(lossproof_trace.watch(model, head=model.out).forward)
    if str(inspect.signature(Net.forward)) != signature:
        raise AssertionError("another signature")
    return out


@case
def sizes_that_mislead():
    return {
        "positions as many as the model is wide": trained(Net(seats=16, width=16)),
        "layers as wide as the vocabulary": trained(Net(wide=V)),
        "the same, tied": trained(Net(wide=V, head=False)),
        "a padded head": trained(Net(padded=27)),
        "a parameter in place of a table": trained(Net(raw=True)),
        "a parameter in place of both": trained(Net(raw=True, head=False)),
    }


@case
def losses_of_models_with_sizes_that_mislead():
    out = {}
    for name, model in {"wide": Net(wide=V), "padded": Net(padded=27), "seats": Net(seats=16)}.items():
        SESSION.records.clear()
        ids, _ = batch()
        model(ids[:, :-1].contiguous(), ids[:, 1:].contiguous()).backward()
        weights = torch.full((B, T - 1), 1 / (B * (T - 1)))
        out[name] = compare(SESSION.of("trained")[0], weights, ids[:, 1:])
    return out


if __name__ == "__main__":
    run()
