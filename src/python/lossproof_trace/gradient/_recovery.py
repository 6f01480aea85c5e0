"""Targets and weights read off gradients: pure functions of tensors, nothing of hooks or files.

The loss is taken to depend on the logits z only through log-probabilities of one target y a position, at a temperature T:
L = -sum w logprob(y). Then, with p = softmax(z / T) and k = w / T,

    dL/dz = k (p - e_y)                 the logits route: _logits.py
    dL/dh = k (W^T p - W_y)             the hidden route, h being the head's input: _hidden.py

Both give y, w, T, log p(y), and a residual: the norm of what this form does not explain over the norm of the gradient.
A softcap or a scale f between W h + b and the logits that the loss reads is a `Post`: entry v is then multiplied by f'(v).

RESIDUAL, by the coarsest dtype that the gradient went through (`coarsest`): what one target leaves unexplained by rounding
alone, at most.
"""

import torch

RESIDUAL = {"float64": 1e-6, "float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}

# And what is let pass, as src/trace/bands.ts has it: above it targets and weights are not known.
BAND = {"float64": 1e-6, "float32": 1e-4, "float16": 2e-2, "bfloat16": 8e-2}

# Bytes of any one temporary: chunks of positions, and blocks of the vocabulary, are cut so.
WORKING = 64 * 2**20

# A temperature is told where its relative standard error is below this; the rest is NaN, and 1 is assumed.
TEMPERATURE_ERROR = 0.01

# A temperature this near to 1 is 1: slopes are fitted, and a weight is not to inherit their last digits.
NEAR_ONE = 1e-3

# In place of a target: what is taught there is a teacher's distribution, and no token. The weight is then that of the divergence.
TAUGHT = -2

# From the finest to the coarsest.
PRECISIONS = ("float64", "float32", "float16", "bfloat16")


class Post:
    """f(z) = cap tanh(scale z / cap), or scale z without a cap."""

    def __init__(self, scale=1.0, cap=None):
        self.scale = float(scale)
        self.cap = None if cap is None else float(cap)

    @property
    def identity(self):
        return self.cap is None and self.scale == 1.0

    def value(self, z):
        z = z * self.scale if self.scale != 1.0 else z
        return z if self.cap is None else self.cap * torch.tanh(z / self.cap)

    def slope_at(self, z):
        if self.cap is None:
            return torch.full_like(z, self.scale)
        return self.scale * (1 - torch.tanh(z * self.scale / self.cap) ** 2)


IDENTITY = Post()


class Found:
    """Per trained position; `at` (n,) indexes the positions that were handed in, of which `not_finite` were unusable."""

    FIELDS = ("targets", "weights", "residuals", "temperatures", "logprobs")

    def __init__(self, at, not_finite):
        self.at = at
        self.not_finite = not_finite
        # What else was recognised in the loss, as the record has it; and the form, for the next pass to begin with.
        self.terms = []
        self.shape = None
        # A form was looked for, found or not.
        self.looked = False
        # Positions of which something is not known, by why (src/trace/unread.ts), but those that nothing explains.
        self.unread = {}
        count = at.numel()
        self.targets = torch.full((count,), -1, dtype=torch.int64)
        for name in self.FIELDS[1:]:
            setattr(self, name, torch.full((count,), float("nan"), dtype=torch.float64))

    def left(self, why, which):
        """`which` (n,) of the positions could not be read whole."""
        count = int(which.sum())
        if count > 0:
            self.unread[why] = count

    def put(self, index, **values):
        for name in self.FIELDS:
            if name not in values:
                continue
            value = values[name]
            field = getattr(self, name)
            field[index] = value.to(device=field.device, dtype=field.dtype)


def coarsest(*names):
    return max((name for name in names if name in PRECISIONS), key=PRECISIONS.index, default="float32")


def logprobs_of(logits, ids):
    """(n,) log p(ids) of logits (n, V), in float32 at least, by chunks."""
    step = max(1, WORKING // (4 * logits.shape[1]))
    out = []
    for begin in range(0, logits.shape[0], step):
        z = logits[begin : begin + step].detach()
        z = z.to(wide(z.dtype))
        own = z.gather(1, ids[begin : begin + step, None]).flatten()
        out.append(own - torch.logsumexp(z, dim=-1))
    return torch.cat(out)


def wide(dtype):
    return torch.float64 if dtype == torch.float64 else torch.float32


def coarse_torch(*dtypes):
    return torch.float64 if all(dtype == torch.float64 for dtype in dtypes) else torch.float32


def smallest(dtype):
    """Below this an entry has lost digits: the smallest normal number, with room."""
    return 8 * torch.finfo(dtype).tiny
