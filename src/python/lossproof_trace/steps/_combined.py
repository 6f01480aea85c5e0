"""Gradients that the script takes by torch.autograd.grad and puts together by itself: what of each the optimiser gets.

A few entries of each gradient are kept until the optimiser's step, where p.grad is solved for them: p.grad = sum of c_i g_i.
Where that fits, and one way only, c_i are told; else it is told that they are not known.
"""

import functools

# Parameters, and entries of each, by which gradients are compared.
PARAMETERS = 16
ENTRIES = 48

# Relative, of what is left of p.grad, by its dtype; factors below the last are none.
LEFT = {"float64": 1e-6, "float32": 1e-4, "float16": 1e-2, "bfloat16": 3e-2}
NO_FACTOR = 1e-5

# Gradients that are nearly multiples of each other do not tell their factors.
APART = 1e-4

UNKNOWN = (
    "Gradients of torch.autograd.grad were put together by the script in a way that is not recognised: what of them the "
    "optimiser got is not known, and weights of these passes are not either (`?`)."
)


def install(session, torch):
    combined = Combined(session, torch)

    original = combined.original
    is_compiling = torch.compiler.is_compiling if hasattr(getattr(torch, "compiler", None), "is_compiling") else (lambda: False)

    @functools.wraps(original)
    def grad(outputs, inputs, *args, **kwargs):
        if is_compiling():
            return original(outputs, inputs, *args, **kwargs)
        return combined.grad_of(outputs, inputs, *args, **kwargs)

    torch.autograd.grad = grad
    session.before_step.append(combined.before_step)
    session.after_clip.append(combined.clip)


class Combined:
    def __init__(self, session, torch):
        self.session, self.torch = session, torch
        self.original = torch.autograd.grad
        self.count = 0
        self.forget()

    def forget(self):
        # id of a parameter to it and the entries that are looked at.
        self.looked = {}
        # (index, id of a parameter to its entries of the gradient); and what was in p.grad before the first.
        self.passes = []
        self.before = None
        self.clipped = []

    def clip(self, _session, name, bound, norm):
        if name == "clip_grad_norm_":
            self.clipped.append((bound, norm))

    def grad_of(self, outputs, inputs, *args, **kwargs):
        session = self.session
        if session.ended is not None or session.one_graph:
            return self.original(outputs, inputs, *args, **kwargs)
        session.grads.append([self.count, False])
        self.count += 1
        try:
            result = self.original(outputs, inputs, *args, **kwargs)
        finally:
            index, reached = session.grads.pop()
        if reached:
            with session.guard("autograd.grad"), self.torch.no_grad():
                self.keep(index, inputs, result)
        return result

    def keep(self, index, inputs, gradients):
        inputs = [inputs] if isinstance(inputs, self.torch.Tensor) else list(inputs)
        pairs = [
            (parameter, gradient)
            for parameter, gradient in zip(inputs, gradients)
            if isinstance(parameter, self.torch.nn.Parameter) and parameter.is_leaf and gradient is not None and not gradient.is_sparse
        ]
        step = max(1, len(pairs) // PARAMETERS)
        for parameter, _ in pairs[::step]:
            if id(parameter) not in self.looked and len(self.looked) < 4 * PARAMETERS:
                places = self.torch.linspace(0, parameter.numel() - 1, min(ENTRIES, parameter.numel()), device=parameter.device)
                self.looked[id(parameter)] = (parameter, places.long())
        if self.before is None:
            self.before = {key: self.entries(p.grad, at) for key, (p, at) in self.looked.items() if p.grad is not None}
        kept = {id(p): self.entries(g, self.looked[id(p)][1]) for p, g in pairs if id(p) in self.looked}
        self.passes.append((index, kept))

    def entries(self, tensor, places):
        return tensor.detach().reshape(-1)[places].double().cpu()

    def before_step(self, session, pending):
        clipped, self.clipped = self.clipped, []
        if not self.passes:
            return
        held = {id(parameter) for parameter in pending.parameters}
        with self.torch.no_grad():
            ours = [(index, kept) for index, kept in self.passes if any(key in held for key in kept)]
            # Gradients of something else than parameters: by themselves they go nowhere.
            nowhere = [index for index, kept in self.passes if not kept]
            if not ours:
                return
            factors = self.solved(ours, [key for key in self.looked if key in held], factor_of(clipped))
        if factors is None:
            session.blind("combined", UNKNOWN)
        pending.told["passes"] = [index for index, _ in ours] + nowhere
        pending.told["factors"] = ([None] * len(ours) if factors is None else factors) + [0.0] * len(nowhere)
        self.forget()

    def solved(self, passes, keys, clip):
        """The factor of each pass in p.grad as it is now, without that of clipping; None where it cannot be told."""
        torch = self.torch
        zeros = {key: torch.zeros(self.looked[key][1].numel(), dtype=torch.float64) for key in keys}
        now = {key: self.entries(p.grad, at) for key, (p, at) in self.looked.items() if key in zeros and p.grad is not None}
        column = lambda of: torch.cat([of.get(key, zeros[key]) for key in keys])  # noqa: E731
        columns = [column(kept) for _, kept in passes]
        before = column(self.before or {})
        if float(before.norm()) > 0:
            columns.append(before)
        target = column(now)
        if float(target.norm()) == 0:
            return [0.0] * len(passes)
        sizes = torch.stack([each.norm() for each in columns]).clamp(min=1e-300)
        matrix = torch.stack(columns, 1) / sizes
        live = [at for at, each in enumerate(columns) if float(each.norm()) > 0]
        if not live or float(torch.linalg.svdvals(matrix[:, live])[-1]) < APART:
            return None
        solution = torch.linalg.lstsq(matrix[:, live], target[:, None]).solution[:, 0]
        left = float((target - matrix[:, live] @ solution).norm() / target.norm())
        kinds = {str(self.looked[key][0].dtype).replace("torch.", "") for key in keys}
        if left > max(LEFT.get(kind, LEFT["bfloat16"]) for kind in kinds):
            return None
        factors = torch.zeros(len(columns), dtype=torch.float64)
        factors[live] = solution / sizes[live]
        factors = [float("%.6g" % float(each / clip)) for each in factors[: len(passes)]]
        return [0.0 if abs(each) < NO_FACTOR * max(map(abs, factors)) else each for each in factors]


def factor_of(clipped):
    """What clipping by norm did to all gradients alike."""
    factor = 1.0
    for most, norm in clipped:
        factor *= min(1.0, most / (float(norm) + 1e-6))
    return factor if factor > 0 else 1.0
