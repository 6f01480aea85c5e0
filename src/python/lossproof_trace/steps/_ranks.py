"""What processes of one group have in common, where they train one model side by side: a number over a few fixed elements of
each of its tensors, before each step and of the gradients at it. Equal numbers stand for equal bits; who compares them is
the reader of all the processes' files. A process that stands alone records nothing of it.

Parameters are looked at when the model is next called for training, not behind the optimiser: some finish there.
"""

import functools
import sys
import weakref

from ..models import _models
from ._tensors import flat_of

# Elements of each tensor that are looked at, spread evenly.
PLACES = 64
# Numbers that any reader of JSON keeps whole.
KEPT = 2**48 - 1
# No gradient, or no element of this process.
ABSENT = -1
# Small tensors whose gradient is kept before the script reduces it, to tell a sum over processes from a mean.
WITNESSES = 2
# Processes that share nothing at their steps may average their parameters every few of them: so many more are traced to see it.
PATIENCE = 6
# Whole numbers by their bytes.
BITS = {1: "uint8", 2: "int16", 4: "int32", 8: "int64"}
# Wrappers that leave a process with a part of each tensor, or none of its gradients, by a class in their line.
SHARDING = ("FullyShardedDataParallel", "FSDPModule", "DeepSpeedEngine")


def install(session, torch):
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available():
        return
    ranks = Ranks(session, torch)
    _watch_wrapper(session, ranks)
    _watch_join(session, ranks)
    session.before_clip.append(lambda _: ranks.clipping() if ranks.seen else None)
    session.on_training.append(ranks.training)
    session.before_step.append(ranks.stepping)
    session.after_step.append(ranks.stepped)


class Wrapper:
    """A DistributedDataParallel that was made, and of which modules' tensors; holds nothing alive."""

    def __init__(self, module, torch):
        self.module = weakref.ref(module)
        self.parameters = {id(parameter) for parameter in module.module.parameters()}
        self.ignored = set(getattr(module, "parameters_to_ignore", ()) or ())
        try:
            self.group = list(torch.distributed.get_process_group_ranks(module.process_group))
        except Exception:  # noqa: BLE001 - a group of another kind, older torch
            self.group = list(range(torch.distributed.get_world_size()))


class Seen:
    """What is kept of a model between its calls."""

    def __init__(self):
        self.told = None
        self.step = -1
        self.names = []
        self.parameters = []
        self.apart = set()
        self.elsewhere = None
        self.group = []
        self.witnesses = None
        # Of each, its gradient as backward left it, and before the script clips it.
        self.local, self.unclipped = {}, {}
        # Its parameters behind the latest step, where its gradients were this process's own.
        self.behind = None
        # Training calls since the step before, those of them through the wrapper, and those that it reduces behind.
        self.calls = self.through = self.synced = 0


class Ranks:
    def __init__(self, session, torch):
        self.session = session
        self.torch = torch
        self.owner = torch.nn.parallel.DistributedDataParallel
        self.wrappers = []
        self.seen = {}
        self.joined = False
        # Steps that were asked for, while more are made to see whether the processes meet.
        self.asked = None
        self.periodic = None

    def several(self):
        distributed = self.torch.distributed
        return distributed.is_initialized() and distributed.get_world_size() > 1

    # A call for training

    def training(self, session, index):
        if not self.several():
            return
        seen = self.seen.setdefault(index, Seen())
        root = root_of(index)
        if root is None:
            return
        wrapper = self.wrapper_of(root)
        held = None if wrapper is None else wrapper.module()
        seen.calls += 1
        seen.through += int(held is not None and getattr(self.owner, "_active_ddp_module", None) is held)
        seen.synced += int(held is not None and bool(getattr(held, "require_backward_grad_sync", True)))
        if seen.step == session.step:
            return
        seen.step = session.step
        self.tell(seen, index, root, wrapper)
        with self.torch.no_grad():
            sums, _ = self.sums([None if at in seen.apart else each for at, each in enumerate(seen.parameters)])
        session.write("checksums", model=index, step=session.step, of="parameters", sums=sums)
        if seen.behind is not None and not self.torch.equal(seen.behind, sums):
            self.enough()
        seen.behind = None

    def wrapper_of(self, root):
        """The latest that was made over any of its tensors; one that still exists first."""
        ids = {id(parameter) for parameter in root.parameters()}
        fitting = [wrapper for wrapper in self.wrappers if wrapper.parameters & ids]
        return next((each for each in reversed(fitting) if each.module() is not None), fitting[-1] if fitting else None)

    def tell(self, seen, index, root, wrapper):
        """Its tensors, where they are not those that were told already."""
        if seen.elsewhere is None:
            seen.elsewhere = sharding_of(root)
        named = [(name, each) for name, each in root.named_parameters() if each.is_floating_point()]
        seen.names, seen.parameters = [name for name, _ in named], [each for _, each in named]
        ignored = set() if wrapper is None else wrapper.ignored
        seen.apart = {
            at
            for at, (name, each) in enumerate(named)
            if seen.elsewhere or is_part(each) or any(name == other or other.endswith("." + name) for other in ignored)
        }
        fields = {
            "names": seen.names,
            "shapes": ["x".join(str(length) for length in each.shape) for each in seen.parameters],
            "apart": sorted(seen.apart),
            "wrapper": seen.elsewhere or (None if wrapper is None else "DistributedDataParallel"),
            "gone": wrapper is not None and wrapper.module() is None,
            "group": self.group_of(seen, wrapper),
        }
        if fields != seen.told:
            seen.told = fields
            self.session.write("replica", model=index, **fields)
        if seen.witnesses is None:
            seen.witnesses = []
            if wrapper is None and len(seen.apart) < len(named):
                self.call_witnesses(seen)

    def group_of(self, seen, wrapper):
        """Ranks that have a part of the data each; none: not known, as some may share a row."""
        if seen.elsewhere == "FSDPModule":
            meshes = [getattr(each, "device_mesh", None) for each in seen.parameters]
            mesh = next(iter(meshes), None)
            # Of two dimensions, one may be of tensor parallelism.
            if mesh is not None and mesh.ndim == 1 and all(other == mesh for other in meshes):
                seen.group = mesh.mesh.flatten().tolist()
            return seen.group
        everyone = list(range(self.torch.distributed.get_world_size()))
        if seen.elsewhere == "FullyShardedDataParallel":
            return everyone if not any("DTensor" in type(each).__name__ for each in seen.parameters) else []
        if seen.elsewhere:
            return []
        if wrapper is not None:
            return wrapper.group
        return [] if seen.apart else everyone

    def call_witnesses(self, seen):
        fit = [each for at, each in enumerate(seen.parameters) if at not in seen.apart and each.requires_grad and each.is_leaf]
        for parameter in sorted(fit, key=lambda each: each.numel())[:WITNESSES]:
            register = getattr(parameter, "register_post_accumulate_grad_hook", None)
            if register is None:
                return
            seen.witnesses.append(parameter)
            register(functools.partial(self.witness, seen, len(seen.witnesses) - 1))

    def witness(self, seen, at, parameter):
        with self.session.guard("ranks"):
            taken = values_at(self.torch, parameter.grad)
            if taken is not None:
                seen.local[at] = taken.to(self.torch.float32, copy=True)
                seen.unclipped.pop(at, None)

    def clipping(self):
        """What the script reduced is known before it is clipped only."""
        for seen in self.seen.values():
            for at, parameter in enumerate(seen.witnesses or ()):
                taken = values_at(self.torch, parameter.grad)
                if taken is not None and at in seen.local and at not in seen.unclipped:
                    seen.unclipped[at] = taken.to(self.torch.float32, copy=True)

    # A step

    def stepping(self, session, pending):
        # The second optimiser of one step finds the gradients that the first had.
        if not session.fresh or not self.several():
            return
        for index in pending.models:
            seen = self.seen.get(index)
            if seen is not None and seen.step == session.step:
                if seen.elsewhere == "FSDPModule":
                    # Behind its forward pass a part of it may be whole; now it lies in its shards, which tell who has them.
                    self.tell(seen, index, root_of(index), None)
                self.gradients(session, index, seen)

    def gradients(self, session, index, seen):
        torch = self.torch
        gradients = [None if at in seen.apart else each.grad for at, each in enumerate(seen.parameters)]
        with torch.no_grad():
            sums, sizes = self.sums(gradients)
            local, final = [], []
            for at, parameter in enumerate(seen.witnesses or ()):
                now = seen.unclipped.get(at, values_at(torch, parameter.grad))
                if at in seen.local and now is not None and now.numel() == seen.local[at].numel():
                    local.append(seen.local[at])
                    final.append(now.to(torch.float32))
            local, final = (torch.cat(each) if each else torch.zeros(0, dtype=torch.float32) for each in (local, final))
            if seen.witnesses:
                self.wait(seen, alone=not seen.apart and local.numel() > 0 and torch.equal(local, final))
            session.write(
                "checksums",
                model=index,
                step=session.step,
                of="gradients",
                sums=sums,
                sizes=sizes,
                local=local,
                reduced=final,
                calls=seen.calls,
                through=seen.through if hasattr(self.owner, "_active_ddp_module") else seen.calls,
                synced=seen.synced,
                joined=self.joined,
                periodic=self.averages_now_and_then(),
            )
        seen.calls = seen.through = seen.synced = 0
        seen.local, seen.unclipped = {}, {}

    # Processes that share no gradient, and may share parameters

    def wait(self, seen, alone):
        """`alone`: the optimiser is given what the backward passes of this process left, and nothing else."""
        if not alone:
            self.enough()
        elif self.asked is None and self.session.wanted > 0:
            self.asked = self.session.wanted
            self.session.wanted += PATIENCE
        seen.behind = None

    def enough(self):
        """They were seen to share something."""
        if self.asked:
            self.session.wanted = self.asked
        self.asked = 0

    def stepped(self, session, pending):
        if not self.asked:
            return
        for index in pending.models:
            seen = self.seen.get(index)
            if seen is not None and seen.witnesses:
                with self.torch.no_grad():
                    seen.behind, _ = self.sums([None if at in seen.apart else each for at, each in enumerate(seen.parameters)])

    def averages_now_and_then(self):
        """The script made one of torch's own averagers of parameters: local SGD."""
        if self.periodic is None:
            self.periodic = False
            module = sys.modules.get("torch.distributed.algorithms.model_averaging.averagers")
            if module is not None:
                self.periodic = _first(lambda thing: issubclass(type(thing), module.ModelAverager)) is not None
        return self.periodic

    def sums(self, tensors):
        """(n,) int64, and (n,) float32 sizes of what was looked at; one transfer for each device."""
        torch = self.torch
        taken = {}
        for at, tensor in enumerate(tensors):
            values = None if tensor is None else values_at(torch, tensor)
            if values is not None:
                bits = values.view(getattr(torch, BITS[values.element_size()])).to(torch.int64)
                odd = torch.arange(1, 2 * bits.numel(), 2, device=bits.device)
                total = (bits * odd).sum().bitwise_and(KEPT)
                taken.setdefault(values.device, []).append((at, total, torch.linalg.vector_norm(values.to(torch.float32))))
        sums = torch.full((len(tensors),), ABSENT, dtype=torch.int64)
        sizes = torch.full((len(tensors),), float("nan"), dtype=torch.float32)
        for found in taken.values():
            places = torch.tensor([at for at, _, _ in found])
            sums[places] = torch.stack([total for _, total, _ in found]).cpu()
            sizes[places] = torch.stack([size for _, _, size in found]).cpu()
        return sums, sizes


def root_of(index):
    return next((model.root for model in _models.known() if model.index == index), None)


def values_at(torch, tensor):
    """The elements at its fixed places: the same ones in every process that has a tensor of this shape."""
    if tensor is None or tensor.is_sparse:
        return None
    flat = flat_of(torch, tensor)
    if flat is None or flat.numel() == 0:
        return None
    # Odd, so that it is not always the same column.
    stride = max(1, flat.numel() // PLACES)
    stride -= 1 - stride % 2
    places = torch.arange(min(PLACES, flat.numel()), device=flat.device) * stride
    return flat.index_select(0, places)


def is_part(parameter):
    """Of what lies in several processes, or belongs to this one alone: nothing that others have the same of."""
    kinds = {kind.__name__ for kind in type(parameter).__mro__}
    return (
        bool(kinds & {"DTensor", "FlatParameter", "ShardedTensor"})
        or parameter.is_meta
        or hasattr(parameter, "ds_id")
        or bool(getattr(parameter, "tensor_model_parallel", False))
        # So Megatron, and those after it, mark experts.
        or getattr(parameter, "allreduce", True) is False
    )


def sharding_of(root):
    """The name of what cuts the model into shards, '' where nothing does: around it, on it, or inside of it."""
    for part in root.modules():
        for kind in type(part).__mro__:
            if kind.__name__ in SHARDING:
                return kind.__name__
    if "torch.distributed.fsdp" not in sys.modules and "deepspeed" not in sys.modules:
        return ""

    def around(thing):
        names = {kind.__name__ for kind in type(thing).__mro__}
        return bool(names & set(SHARDING)) and any(part is root for part in thing.modules())

    found = _first(around)
    return "" if found is None else next(kind.__name__ for kind in type(found).__mro__ if kind.__name__ in SHARDING)


def _first(fits):
    import gc

    for thing in gc.get_objects():
        try:
            if fits(thing):
                return thing
        except Exception:  # noqa: BLE001 - half-made objects of others
            continue
    return None


def _watch_wrapper(session, ranks):
    original = ranks.owner.__init__

    @functools.wraps(original)
    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        with session.guard("ranks"):
            ranks.wrappers.append(Wrapper(self, ranks.torch))

    ranks.owner.__init__ = init


def _watch_join(session, ranks):
    """Processes with fewer batches than others are legal inside of it."""
    module = sys.modules.get("torch.distributed.algorithms.join")
    if module is None:
        return
    original = module.Join.__enter__

    @functools.wraps(original)
    def enter(self):
        ranks.joined = True
        return original(self)

    module.Join.__enter__ = enter
