"""Writes what runs are compared by: fingerprints of weights and gradients at each step, and of what each module returned."""

from ..models import _models
from ..steps import _tensors
from . import _prints
from ._backward import Backward

# Of one forward pass, fingerprints of all its modules; with more, those that are called later are left out.
MOST_BYTES = 2**26


class Witness:
    def __init__(self, session, torch, signs=False):
        self.signs = signs
        self.session = session
        self.torch = torch
        self.prints = _prints.Prints(torch)
        self.backward = Backward(session, torch, self.prints)
        self.begun = set()
        # id of a module to (B, T, R), of the call that runs.
        self.seen = {}
        self.bytes = 0
        self.is_compiling = torch.compiler.is_compiling if hasattr(torch, "compiler") else (lambda: False)
        session.before_step.append(lambda _, pending: self.before(pending))
        session.after_step.append(lambda _, pending: self.after(pending))
        session.on_training.append(lambda _, index: self.called(index))
        register = torch.nn.modules.module.register_module_forward_hook
        try:
            register(self.returned, with_kwargs=True)
        except TypeError:  # an older torch: inputs by name are not seen
            register(lambda module, args, output: self.returned(module, args, {}, output))

    # Steps

    def before(self, pending):
        if pending.models:
            self.backward.told()
        for model in self.models(pending):
            named = named_parameters(model)
            if model.index not in self.begun:
                self.begun.add(model.index)
                self.write(model, 0, "before", named, [parameter for _, parameter in named])
            own = {id(parameter) for parameter in pending.parameters}
            held = [(name, parameter) for name, parameter in named if id(parameter) in own or pending.engine]
            gradients = [_tensors.at_step(parameter) for _, parameter in held]
            self.write(model, pending.index, "gradients", held, gradients)
            if self.signs:
                signs = [None if gradient is None else gradient.sign() for gradient in gradients]
                self.write(model, pending.index, "signs", held, signs)

    def after(self, pending):
        for model in self.models(pending):
            named = named_parameters(model)
            self.write(model, pending.index, "after", named, [parameter for _, parameter in named])

    def models(self, pending):
        return [model for model in _models.known() if model.index in pending.models and model.root is not None]

    def write(self, model, step, of, named, tensors):
        with self.torch.no_grad():
            self.session.write(
                "prints",
                model=model.index,
                step=step,
                of=of,
                names=[name for name, _ in named],
                prints=self.prints.of_all(tensors),
            )

    # Calls

    def returned(self, module, args, kwargs, output):
        if self.is_compiling():
            return
        session, torch = self.session, self.torch
        if session.generating or session.ended is not None or not torch.is_grad_enabled() or self.bytes > MOST_BYTES:
            return
        if torch._C._current_graph_task_id() != -1:
            # Gradient checkpointing calls it again inside of the backward pass.
            return
        tensor = output[0] if isinstance(output, (tuple, list)) and output else output
        tensor = getattr(tensor, "last_hidden_state", tensor)
        if not isinstance(tensor, torch.Tensor) or tensor.ndim != 3 or not tensor.is_floating_point() or tensor.is_meta:
            return
        with session.guard("what a module returned"), torch.no_grad():
            tokens = self.prints.of_tokens(tensor)
            self.bytes += tokens.numel() * tokens.element_size()
            self.seen[id(module)] = tokens
        with session.guard("gradient of a module"):
            self.backward.returned(module, args, kwargs, tensor)

    def called(self, index):
        """A training forward pass has been recorded: what was seen belongs to it."""
        seen, self.seen, self.bytes = self.seen, {}, 0
        model = next((each for each in _models.known() if each.index == index), None)
        ids = self.session.latest_ids
        if model is None or model.root is None or ids is None:
            self.backward.dropped()
            return
        names, rows = [], []
        real = self.real(ids)
        named = {id(module): name for name, module in model.root.named_modules()}
        self.backward.called(self.session.latest_forward, real, named)
        # In the order in which they were done: what goes wrong in a part is wrong in what holds it, too.
        for key, tokens in seen.items():
            name = named.get(key)
            if name is not None and tokens.shape[:2] == ids[0].shape:
                names.append(name)
                rows.append(self.prints.of_rows(tokens, real))
        if names:
            stacked = self.torch.cat(rows).cpu()
            self.session.write("outputs", forward=self.session.latest_forward, modules=names, prints=stacked)

    def real(self, ids):
        """(B, T) of what is no padding: by the mask, or else all but a run of one id at either end."""
        torch = self.torch
        tokens, mask = ids
        if mask is not None:
            return mask.bool().cpu()
        tokens = tokens.cpu()
        out = torch.ones_like(tokens, dtype=torch.bool)
        for row, line in zip(out, tokens.tolist()):
            for ends in (range(len(line)), range(len(line) - 1, -1, -1)):
                run = [at for at, _ in zip(ends, _same(line, ends))]
                if len(run) > 1:
                    row[run] = False
        return out


def _same(line, ends):
    """As long as the ids are that of the end."""
    first = None
    for at in ends:
        if first is None:
            first = line[at]
        if line[at] != first:
            return
        yield True


def named_parameters(model):
    return [(name, parameter) for name, parameter in model.root.named_parameters() if parameter.requires_grad]
