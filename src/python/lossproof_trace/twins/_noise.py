"""Every weight moved by its own rounding error, once, when an optimiser takes it: what that changes is what rounding can change.

A perturbation of the size of the unit roundoff stands for the rounding of all that is computed from the weight (Parker 1997,
"Monte Carlo arithmetic").
"""

import functools

SEED = 104729


def install(session, torch):
    moved = set()
    generator = torch.Generator().manual_seed(SEED)
    original = torch.optim.Optimizer.add_param_group

    @functools.wraps(original)
    def add_param_group(self, group):
        result = original(self, group)
        with session.guard("rounding noise"), torch.no_grad():
            for parameter in self.param_groups[-1]["params"]:
                if id(parameter) not in moved and parameter.is_floating_point() and not hasattr(parameter, "to_local"):
                    moved.add(id(parameter))
                    signs = torch.randint(0, 2, parameter.shape, generator=generator) * 2 - 1
                    eps = torch.finfo(parameter.dtype).eps
                    parameter.mul_(1 + eps * signs.to(device=parameter.device, dtype=parameter.dtype))
        return result

    torch.optim.Optimizer.add_param_group = add_param_group
