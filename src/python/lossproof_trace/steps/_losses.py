"""What the loss of a backward pass is, beside what its gradient says that it is: a fused loss may lose the factor that the script
puts behind it, or use it twice, and no log shows that."""

from ..recording import _frames


class Loss:
    """The tensor that a backward pass begins with; `read` only behind the pass, so that a device is not waited for before it."""

    def __init__(self, tensors, gradients):
        self.parts = []
        roots, factors = in_list(tensors), in_list(gradients)
        if len(roots) == 1 and is_number(roots[0]) and (not factors or factors[0] is None or is_number(factors[0])):
            self.parts = [roots[0].detach(), *(each.detach() for each in factors if each is not None)]

    def read(self):
        """None: it is not one number."""
        value = 1.0 if self.parts else None
        for part in self.parts:
            value *= float(part)
        return value


def told(session, loss):
    """Behind a backward pass: one `event`, where all that it trained is a supervised loss that was read whole."""
    surprises = session.surprises
    if not surprises or any(each is None for each in surprises):
        return
    value = loss.read()
    if value is None:
        return
    # Both are multiplied by what a gradient scaler puts on the loss.
    scale = session.grad_scale()
    values = {
        "value": value / scale,
        "explained": sum(total for total, _, _ in surprises) / scale,
        "tokens": sum(tokens for _, tokens, _ in surprises),
        "half": any(dtype in ("float16", "bfloat16") for _, _, dtype in surprises),
    }
    session.write("event", what="loss", step=session.step, model=None, place=_frames.place(), names=[], values=values)


def in_list(given):
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def is_number(tensor):
    """One element, and no part of a tensor that several processes hold."""
    return tensor.numel() == 1 and tensor.is_floating_point() and not hasattr(tensor, "to_local")
