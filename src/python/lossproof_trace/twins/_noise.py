"""Every weight moved by its own rounding error, once, when an optimiser takes it, or before the first call of a model that
has it frozen: what that changes is what rounding can change.

A perturbation of the size of the unit roundoff stands for the rounding of all that is computed from the weight (Parker 1997,
"Monte Carlo arithmetic").
"""

import functools

SEED = 104729


def install(session, torch, half=None):
    """`half`: the type that autocast rounds float32 weights to. Returns what moves the frozen weights of a model."""
    moved = set()
    generator = torch.Generator().manual_seed(SEED)
    original = torch.optim.Optimizer.add_param_group

    def move(parameter, dtype):
        if id(parameter) in moved or not parameter.is_floating_point() or hasattr(parameter, "to_local"):
            return
        moved.add(id(parameter))
        signs = torch.randint(0, 2, parameter.shape, generator=generator) * 2 - 1
        # What is rounded to half precision again and again is off by a quarter of its unit, on the whole.
        eps = torch.finfo(dtype or parameter.dtype).eps / (1 if dtype is None else 4)
        parameter.mul_(1 + eps * signs.to(device=parameter.device, dtype=parameter.dtype))

    @functools.wraps(original)
    def add_param_group(self, group):
        result = original(self, group)
        with session.guard("rounding noise"), torch.no_grad():
            for parameter in self.param_groups[-1]["params"]:
                move(parameter, getattr(torch, half) if half else None)
        return result

    def move_frozen(root):
        with torch.no_grad():
            for parameter in root.parameters():
                own = parameter.dtype if parameter.element_size() == 2 else None
                if not parameter.requires_grad:
                    move(parameter, getattr(torch, half) if half else own)

    torch.optim.Optimizer.add_param_group = add_param_group
    return move_frozen
