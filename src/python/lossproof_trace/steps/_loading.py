"""Weights that are loaded, by load_state_dict() or from_pretrained(), and whether a training begins with them."""

import functools
import weakref

from ..recording import _frames
from . import _tensors

# Elements of a tensor that are remembered as they were loaded.
SAMPLES = 64
# A tensor of fewer elements, or whose elements are all the same, tells nothing of where it comes from.
LEAST = 32
# Of the correlation of what was loaded with what is there: rounding, merged adapters and noise leave more.
UNLIKE = 0.3


class Loads:
    def __init__(self, session, torch):
        self.session = session
        self.torch = torch
        # id of a parameter to (weak reference, positions, values, shape, place), as it was loaded last.
        self.loaded = {}
        # Calls that found nothing in what they were given: (weak reference of the module, keys, place).
        self.empty = []
        self.depth = 0

    def watch(self):
        original = self.torch.nn.Module.load_state_dict
        session = self.session

        @functools.wraps(original)
        def load_state_dict(module, state_dict, *args, **kwargs):
            self.depth += 1
            try:
                result = original(module, state_dict, *args, **kwargs)
            finally:
                self.depth -= 1
            if self.depth == 0 and not session.step:
                with session.guard("load_state_dict"):
                    self.took_in(module, state_dict, result)
            return result

        self.torch.nn.Module.load_state_dict = load_state_dict

    def watch_pretrained(self, module):
        """transformers.modeling_utils is imported."""
        owner = module.PreTrainedModel
        original = vars(owner)["from_pretrained"].__func__
        session = self.session

        @functools.wraps(original)
        def from_pretrained(cls, *args, **kwargs):
            self.depth += 1
            try:
                result = original(cls, *args, **kwargs)
            finally:
                self.depth -= 1
            if self.depth == 0:
                with session.guard("from_pretrained"):
                    self.remember((result[0] if isinstance(result, tuple) else result).named_parameters())
            return result

        owner.from_pretrained = classmethod(from_pretrained)

    def took_in(self, module, state_dict, result):
        own = dict(module.named_parameters(remove_duplicate=False))
        missing = set(getattr(result, "missing_keys", None) or ())
        found = {name: p for name, p in own.items() if name in state_dict and name not in missing}
        if own and len(state_dict) > 0 and not found and not any(name in state_dict for name in module.state_dict()):
            self.empty.append((weakref.ref(module), list(state_dict)[:2], list(own)[:2], _frames.place()))
        self.remember(found.items())

    def remember(self, named):
        place = _frames.place()
        for _, parameter in named:
            taken = _tensors.few_of(self.torch, parameter, SAMPLES)
            if taken is not None and parameter.numel() >= LEAST:
                self.loaded[id(parameter)] = (weakref.ref(parameter), *taken, tuple(parameter.shape), place)

    def told(self, model):
        """Before its first training forward pass: an event of tensors that are unlike what was loaded into them."""
        root = model.root
        values, names, place = [], [], None
        for name, parameter in root.named_parameters():
            known, positions, then, shape, where = self.loaded.get(id(parameter), (lambda: None, None, None, None, None))
            # Another one may have got the id of one that is gone.
            if known() is not parameter:
                continue
            flat = _tensors.flat_of(self.torch, parameter)
            if flat is None or tuple(parameter.shape) != shape or flat.numel() <= int(positions[-1]):
                continue
            # Biases and norms begin as all zeros or all ones, loaded or not.
            then = then.to(flat.device).double()
            values.append(alike(flat.index_select(0, positions.to(flat.device)).double(), then))
            names.append(name)
            place = place or where
        likeness = _tensors.numbers(self.torch, values)
        other = [name for name, value in zip(names, likeness) if value < UNLIKE]
        count = sum(1 for value in likeness if value <= 1)
        if count:
            self.session.write(
                "event", what="loaded", step=self.session.step, model=model.index, place=place, names=other[:256],
                values={"tensors": len(other), "of": count},
            )
        inside = {id(module) for module in root.modules()}
        for reference, given, own, where in self.empty:
            module = reference()
            if module is not None and (id(module) in inside or any(part is root for part in module.modules())):
                self.session.write(
                    "event", what="not-loaded", step=self.session.step, model=model.index, place=where, names=own, values={"given": given},
                )
        self.loaded.clear()
        self.empty = []


def alike(now, then):
    """Correlation; 2 where the loaded values are one number, of which there is none."""
    a, b = now - now.mean(), then - then.mean()
    both = a.norm() * b.norm()
    same = (now == then).all()
    flat = b.norm() <= 1e-6 * then.norm().clamp(min=1e-30)
    value = (a * b).sum() / both.clamp(min=1e-300)
    return (value.masked_fill(both == 0, 0.0)).masked_fill(same, 1.0).masked_fill(flat, 2.0)
