"""What is measured of tensors, for little: norms of gradients, samples at fixed positions, and whether they are as they were.
Every number that leaves a device goes with all others of it, in one transfer."""

import math
import sys
import weakref

# Elements that are read at a time: bounds what a norm in another precision takes beside the parameters (32 MiB).
CHUNK = 2**22
# Elements of each parameter that are compared before and after, spread evenly. With tiny updates in bfloat16 only the
# small weights move, some percent of them: of so many, in every parameter, some do.
SAMPLES = 4096
# And of what is compared more often.
FEW = 64
# Rows of a sparse gradient that are compared.
SPARSE_ROWS = 16


def numbers(torch, values):
    """Floats of tensors of one element, on any devices."""
    out = [0.0] * len(values)
    for device in {value.device for value in values}:
        at = [i for i, value in enumerate(values) if value.device == device]
        joined = torch.cat([values[i].reshape(1).double() if device.type != "mps" else values[i].reshape(1).float() for i in at])
        for i, value in zip(at, joined.tolist()):
            out[i] = value
    return out


def norms(torch, parameters):
    """(norm of each one's gradient, or None without one; of each that has one above 0, its strongest chunk's start)."""
    parts, places = [], []
    out = [None] * len(parameters)
    for index, parameter in enumerate(parameters):
        flat = flat_of(torch, parameter.grad)
        if flat is None:
            continue
        out[index] = 0.0
        for start in range(0, flat.numel(), CHUNK):
            chunk = flat[start : start + CHUNK]
            wide = torch.float64 if chunk.dtype == torch.float64 else torch.float32
            parts.append(torch.linalg.vector_norm(chunk.to(wide)))
            places.append((index, start))
    strongest = {}
    for (index, start), value in zip(places, numbers(torch, parts)):
        out[index] = math.hypot(out[index], value) if math.isfinite(value) else math.inf
        if value > strongest.get(index, (0.0, 0))[0]:
            strongest[index] = (value, start)
    return out, {index: start for index, (_, start) in strongest.items()}


def total(values):
    """Over all gradients; None where it is not finite or nothing has any."""
    there = [value for value in values if value is not None]
    norm = math.sqrt(sum(value * value for value in there)) if there else None
    return norm if norm is not None and math.isfinite(norm) else None


class Samples:
    """Elements of parameters before a step, with where each one's gradient is largest among them."""

    def __init__(self, torch, parameters, strongest):
        self.torch = torch
        self.parameters = parameters
        self.taken = []
        # index to the gradient's size and the parameter's where the gradient is largest.
        self.peaks = {}
        found, values = [], []
        for index, parameter in enumerate(parameters):
            flat = flat_of(torch, parameter)
            if flat is None or flat.numel() == 0:
                continue
            positions = torch.arange(0, flat.numel(), max(1, flat.numel() // SAMPLES), device=flat.device)
            gradient = parameter.grad
            if gradient is not None and gradient.is_sparse:
                rows = gradient.coalesce().indices()[0][:SPARSE_ROWS]
                positions = torch.cat([positions, rows.to(flat.device) * (flat.numel() // parameter.shape[0])])
            elif index in strongest:
                chunk = flat_of(torch, gradient)[strongest[index] : strongest[index] + CHUNK]
                at = chunk.abs().argmax().reshape(1)
                place = strongest[index] + at
                positions = torch.cat([positions, place.to(flat.device)])
                # A gradient may lie in memory in another order than its parameter.
                if gradient.stride() == parameter.stride():
                    found.append(index)
                    values += [chunk.index_select(0, at).abs(), flat.index_select(0, place.to(flat.device)).abs()]
            self.taken.append((index, positions, flat.index_select(0, positions)))
        sizes = numbers(torch, values)
        self.peaks = {index: (sizes[2 * i], sizes[2 * i + 1]) for i, index in enumerate(found)}

    def moved(self):
        """index to whether anything of it is another number now."""
        out, which, same = {}, [], []
        for index, positions, values in self.taken:
            flat = flat_of(self.torch, self.parameters[index])
            if flat is None or flat.device != values.device or flat.dtype != values.dtype or flat.numel() <= int(positions.max()):
                out[index] = True
                continue
            which.append(index)
            same.append(equal(flat.index_select(0, positions), values))
        for index, value in zip(which, numbers(self.torch, same)):
            out[index] = value == 0
        return out


def equal(now, then):
    return ((now == then) | ((now != now) & (then != then))).all()


def few_of(torch, tensor, most=FEW):
    """(positions, values) of a few elements; None where there are none to compare."""
    flat = flat_of(torch, tensor)
    if flat is None or flat.numel() == 0:
        return None
    positions = torch.arange(0, flat.numel(), max(1, flat.numel() // most), device=flat.device)[: 2 * most]
    return positions, flat.index_select(0, positions)


def few_of_all(torch, tensors, read=lambda tensor: tensor, most=FEW):
    """[(weak reference, positions, values)] of those that have any."""
    out = []
    for tensor in tensors:
        taken = few_of(torch, read(tensor), most)
        if taken is not None:
            out.append((weakref.ref(tensor), *taken))
    return out


def compared(torch, taken, read=lambda tensor: tensor):
    """[(tensor, values then, values now)] of those that can still be compared."""
    out = []
    for reference, positions, values in taken:
        tensor = reference()
        flat = None if tensor is None else flat_of(torch, read(tensor))
        if flat is None or flat.device != values.device or flat.dtype != values.dtype or flat.numel() <= int(positions[-1]):
            continue
        out.append((tensor, values, flat.index_select(0, positions)))
    return out


def at_step(parameter):
    """The gradient that the next step takes, of an engine that keeps it to itself as well (DeepSpeed: whole, on this rank); None: not there."""
    if parameter.grad is not None:
        return parameter.grad
    deepspeed = sys.modules.get("deepspeed.utils")
    if not hasattr(parameter, "_hp_mapping") and not hasattr(parameter, "ds_id"):
        return None
    return deepspeed.safe_get_full_grad(parameter) if deepspeed is not None else None


def gradient_of(tensor):
    gradient = tensor.grad
    return None if gradient is None or gradient.is_sparse else gradient


def flat_of(torch, tensor):
    """The elements as they lie in memory, without a copy where they lie side by side; of a sharded one, this rank's."""
    if tensor is None:
        return None
    tensor = tensor.detach()
    if hasattr(tensor, "to_local"):
        tensor = tensor.to_local()
    if tensor.is_sparse:
        tensor = tensor.coalesce().values()
    if not tensor.is_floating_point() or tensor.is_meta:
        return None
    if tensor.is_contiguous():
        return tensor.view(-1)
    order = sorted(range(tensor.dim()), key=lambda axis: -tensor.stride(axis))
    return tensor.permute(order).reshape(-1)
