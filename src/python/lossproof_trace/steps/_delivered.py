"""What each backward pass delivered, against the gradient that the optimiser gets: which of them are in it, and how often.

With d_k the gradient of backward pass k and g the one at the step, the factors c of the least squares fit g = sum of c_k d_k are all
one number where every micro-batch is in it: 1, or what clipping, a loss scale or an average multiplies by. A micro-batch that is lost
has 0, one that is counted twice has two times the others'.
"""

import weakref

from ..models import _models
from . import _tensors

# Tensors of a model that are followed, and elements of each.
SOME = 16
FEW = 64
# With more micro-batches, their gradients cannot be told apart by so few elements.
MOST = 32
# Smallest over largest singular value: below, two micro-batches have the same gradient, and nobody can say which one is lost.
LEAST_RANK = 1e-3
# Next to the largest, a gradient of less than this is measured against it.
SMALL = 1e-3


class Delivered:
    def __init__(self, session, torch, backwards):
        self.session = session
        self.torch = torch
        self.backwards = backwards
        # id of a parameter to (weak reference, positions); by number of a backward pass, what each got.
        self.followed = {}
        self.passes = {}
        # What already stood in each before the first of them.
        self.before = {}

    def training(self, model):
        """A model is called for training."""
        with_gradient = [parameter for parameter in model.root.parameters() if parameter.requires_grad and parameter.is_leaf]
        for parameter in with_gradient[:: max(1, len(with_gradient) // SOME)][:SOME]:
            known = self.followed.get(id(parameter))
            if known is not None and known[0]() is parameter:
                continue
            flat = _tensors.flat_of(self.torch, parameter)
            if flat is None or flat.numel() == 0 or hasattr(parameter, "to_local"):
                continue
            positions = self.torch.arange(0, flat.numel(), max(1, flat.numel() // FEW), device=flat.device)[:FEW]
            self.followed[id(parameter)] = (weakref.ref(parameter), positions)
            parameter.register_hook(self.hook(id(parameter)))

    def hook(self, key):
        def got(gradient):
            with self.session.guard("what a backward pass delivers"), self.torch.no_grad():
                self.got(key, gradient)

        return got

    def got(self, key, gradient):
        reference, positions = self.followed[key]
        parameter = reference()
        number = self.backwards.count
        if parameter is None or self.backwards.depth == 0 or (number not in self.passes and len(self.passes) >= MOST):
            return
        values = self.sample(gradient, parameter, positions)
        if values is None:
            return
        if not self.passes:
            self.before = {}
        if number == min(self.passes, default=number) and key not in self.before:
            # Left over of the step before: set to nothing, or not.
            self.before[key] = self.sample(parameter.grad, parameter, positions)
        own = self.passes.setdefault(number, {})
        # In one pass, gradient checkpointing may deliver in parts.
        own[key] = values if key not in own else own[key] + values

    def sample(self, gradient, parameter, positions):
        """(FEW,), on its device; None: it is not of the parameter's form."""
        if gradient is None or gradient.is_sparse or gradient.shape != parameter.shape or hasattr(gradient, "to_local"):
            return None
        # In the order of the indices: gradients lie in memory as they please.
        return gradient.detach().reshape(-1).index_select(0, positions)

    def told(self, pending):
        """Before a step: one `event`. Spends what was delivered."""
        passes, self.passes = self.passes, {}
        if len(passes) < 2 or len(passes) >= MOST:
            return
        torch = self.torch
        columns, wanted = [[] for _ in passes], []
        for key, (reference, positions) in self.followed.items():
            parameter = reference()
            now = None if parameter is None else self.sample(_tensors.at_step(parameter), parameter, positions)
            if now is None or all(key not in own for own in passes.values()):
                continue
            if self.before.get(key) is not None and bool((self.before[key] != 0).any()):
                return
            wanted.append(wide(now))
            for column, own in zip(columns, passes.values()):
                column.append(wide(own.get(key, torch.zeros_like(now))))
        if not wanted:
            return
        # Each tensor counts alike, but for those whose gradient is hardly more than rounding.
        largest = max(float(each.norm()) for each in wanted)
        sizes = torch.cat([torch.full_like(each, max(float(each.norm()), SMALL * largest) or 1.0) for each in wanted])
        g = torch.cat(wanted) / sizes
        d = torch.stack([torch.cat(column) for column in columns], dim=1) / sizes[:, None]
        if not bool(torch.isfinite(d).all()) or not bool(torch.isfinite(g).all()) or float(g.norm()) == 0:
            return
        scales = d.norm(dim=0).clamp(min=1e-300)
        u, singular, v = torch.linalg.svd(d / scales, full_matrices=False)
        if float(singular[-1]) < LEAST_RANK * float(singular[0]):
            return
        factors = (v.T @ ((u.T @ g) / singular)) / scales
        rest = float((g - d @ factors).norm() / g.norm())
        self.session.write(
            "event",
            what="delivered",
            step=pending.index,
            model=pending.models[0],
            place=pending.place,
            names=[],
            values={"factors": [float(factor) for factor in factors], "rest": rest},
        )


def wide(values):
    """float64, on the processor: what is on an accelerator leaves it at the step, and not in each backward pass."""
    return values.cpu().double()
