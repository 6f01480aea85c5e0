"""Fingerprints of the gradients at the outputs and inputs of modules, in the order in which a backward pass reaches them.

Hooks of tensors, and not of modules: a backward hook of a module puts a function around its inputs and outputs, which a script may
see. Nothing but the sums of each row is kept.
"""

# Of all forward passes since a step; what comes later is left out.
MOST_BYTES = 2**26
# Forward passes without a backward pass must not pile up.
MOST_CALLS = 256


class Call:
    """A training forward pass, and what its backward pass delivered."""

    __slots__ = ("forward", "real", "names", "places", "sums")

    def __init__(self):
        # Known when the forward pass has been recorded.
        self.forward = self.real = None
        self.names = {}
        # (function that made a tensor, which of its results) to [(id of a module, side)]: one tensor is often the output of a
        # module and the input of the next.
        self.places = {}
        # The lists of `places`, in the order in which the backward pass reached them, each with (B, R) sums.
        self.sums = []


class Backward:
    def __init__(self, session, torch, prints):
        self.session = session
        self.torch = torch
        self.prints = prints
        self.call = Call()
        self.calls = []
        self.bytes = 0

    def returned(self, module, args, kwargs, output):
        """A module has been called for training."""
        given = next((each for each in (*args, *kwargs.values()) if self.is_seen(each)), None)
        self.follow(module, "output", output)
        self.follow(module, "input", given)

    def is_seen(self, tensor):
        return isinstance(tensor, self.torch.Tensor) and tensor.ndim == 3 and tensor.requires_grad and tensor.grad_fn is not None

    def follow(self, module, side, tensor):
        if not self.is_seen(tensor) or self.bytes > MOST_BYTES:
            return
        call, key = self.call, (tensor.grad_fn, tensor.output_nr)
        known = call.places.get(key)
        if known is not None:
            known.append((id(module), side))
            return
        places = call.places[key] = [(id(module), side)]

        def arrived(gradient):
            if call.real is not None and self.session.ended is None:
                with self.session.guard("gradient of a module"), self.torch.no_grad():
                    self.arrived(call, places, gradient)

        tensor.register_hook(arrived)

    def arrived(self, call, places, gradient):
        if gradient is None or gradient.shape[:2] != call.real.shape or gradient.is_sparse:
            return
        rows = self.prints.of_rows(self.prints.of_tokens(gradient), call.real)
        for known, sums in call.sums:
            if known is places:
                # A second backward pass through the same graph.
                sums += rows
                return
        self.bytes += rows.numel() * rows.element_size() * len(places)
        call.sums.append((places, rows))

    def called(self, forward, real, names):
        """A training forward pass has been recorded: what was seen belongs to it."""
        call, self.call = self.call, Call()
        # They hold the graph.
        call.places = None
        call.forward, call.real, call.names = forward, real, names
        self.calls = [*self.calls[-MOST_CALLS:], call]

    def dropped(self):
        """What was seen belongs to no forward pass that is known."""
        self.call = Call()

    def told(self):
        """Before a step."""
        calls, self.calls, self.bytes = self.calls, [], 0
        for call in calls:
            modules, sides, rows = [], [], []
            for places, sums in call.sums:
                for module, side in places:
                    name = call.names.get(module)
                    if name is not None:
                        modules.append(name)
                        sides.append(side)
                        rows.append(sums)
            if modules:
                stacked = self.torch.cat(rows).cpu()
                self.session.write("backward", forward=call.forward, modules=modules, sides=sides, prints=stacked)
