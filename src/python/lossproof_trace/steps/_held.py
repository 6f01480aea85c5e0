"""The optimisers of the script, with what is remembered of each between two of its steps."""

import weakref

_all = weakref.WeakKeyDictionary()
_count = [0]


class Held:
    """An optimiser. Holds neither it nor its tensors alive."""

    def __init__(self):
        self.index = _count[0]
        _count[0] += 1
        # Samples of its gradients as its latest step left them, and how many backward passes had begun by then.
        self.gradients = []
        self.backwards = 0
        # Tensors in which the first backward pass since then met those gradients as they were.
        self.left = []
        # Calls of its schedulers since then, by scheduler.
        self.schedules = {}


def watch(torch):
    """Optimisers are known from when they are made: one that steps seldom holds its tensors none the less."""
    original = torch.optim.Optimizer.__init__

    def __init__(self, *args, **kwargs):
        original(self, *args, **kwargs)
        of(self)

    torch.optim.Optimizer.__init__ = __init__


def of(optimizer):
    held = _all.get(optimizer)
    if held is None:
        held = _all[optimizer] = Held()
    return held


def every():
    return list(_all.items())


def parameters_of(optimizer):
    groups = getattr(optimizer, "param_groups", None) or []
    return [parameter for group in groups for parameter in group["params"]]


def holders(parameters):
    """Optimisers that hold any of these."""
    wanted = {id(parameter) for parameter in parameters}
    return [each for each, _ in every() if any(id(parameter) in wanted for parameter in parameters_of(each))]


def forget_gradients(parameters):
    """These were set to nothing."""
    gone = {id(parameter) for parameter in parameters}
    for _, held in every():
        held.left = [parameter for parameter in held.left if id(parameter) not in gone]
        held.gradients = [each for each in held.gradients if each[0]() is not None and id(each[0]()) not in gone]
