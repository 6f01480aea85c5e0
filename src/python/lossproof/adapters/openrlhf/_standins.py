"""What OpenRLHF's trainers are given in the place of DeepSpeed, Ray and the data sets library."""

from types import SimpleNamespace

from lossproof import Reject
from lossproof.adapters.common._ranks import Network
from lossproof.testing import replaced

import torch


class Strategy:
    """DeepspeedStrategy of one process: it keeps the losses that are backwarded, scaled as DeepSpeed scales them, by 1 over the
    micro-batches of a step, and runs their backward pass."""

    ring_attn_group = None

    def __init__(self, args=None, micro_batches=1):
        self.args, self.accumulated_gradient, self.total = args, micro_batches, 0.0
        self.statuses = []  # what training_step returned of each micro-batch

    def backward(self, loss, *_, **__):
        scaled = loss / self.accumulated_gradient
        if scaled.requires_grad:
            scaled.backward()
        self.total += float(scaled.detach())

    def optimizer_step(self, *_, **__):
        pass

    def get_grad_norm(self, *_):
        return 0.0

    def all_reduce(self, data, **_):
        return data

    def is_rank_0(self):
        return True

    def print(self, *_):
        pass


class Idle:
    """Whatever is called of it does nothing: a progress bar, a learning-rate schedule, a switch of a model."""

    def __getattr__(self, name):
        return lambda *_, **__: self

    def __getitem__(self, at):
        return 0.0


class Rows:
    """A dataset in memory with what OpenRLHF's data sets call: datasets.Dataset takes tenths of a second for a row."""

    def __init__(self, rows):
        self.rows = rows

    @property
    def column_names(self):
        return list(self.rows[0])

    def map(self, function, remove_columns=None, num_proc=None):
        return Rows([function(dict(row)) for row in self.rows])

    def filter(self, function):
        return Rows([row for row in self.rows if function(row)])

    def __getitem__(self, name):
        return [row[name] for row in self.rows]


class Tracks:
    """An Actor whose log-probabilities and entropies of the sequences are given, or a critic with its values: (B, T - 1), as they
    return them."""

    is_vlm = False

    def __init__(self, track, entropy=None):
        self.track, self.entropy = track, entropy

    def __call__(self, sequences, action_mask=None, **_):
        rows = sequences[:, 0]  # which ones they are
        entropy = torch.zeros_like(self.track) if self.entropy is None else self.entropy
        return self.track[rows], Output(entropy=entropy[rows])

    def train(self):
        pass


class Output(SimpleNamespace):
    def __contains__(self, name):
        return hasattr(self, name)


def tree(**fields):
    """OpenRLHF's arguments: tree(algo={"kl": {"use_loss": True}}) has .algo.kl.use_loss."""
    return SimpleNamespace(**{name: tree(**value) if isinstance(value, dict) else value for name, value in fields.items()})


def over_ranks(count, micro_batches, ranks, run):
    """The mean over ranks of run(their micro-batches). DeepSpeed has as many of them on each rank."""
    everyone = ranks or [list(range(count))]
    parts = [[part for part in ([row for row in part if row in rows] for part in micro_batches) if part] for rows in everyone]
    if len({len(own) for own in parts}) != 1 or not parts[0]:
        raise Reject("DeepSpeed has as many micro-batches on each rank")
    network = Network(len(everyone))
    return sum(network.play([lambda own=own: run(own) for own in parts])) / network.size


def reduced(ranks):
    """What each of these functions returns, a rank each, over DeepspeedStrategy's own all_reduce."""
    with replaced(torch.cuda, current_device=lambda: "cpu"):
        return Network(len(ranks)).play(ranks)
