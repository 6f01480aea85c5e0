"""torch.set_default_device and torch.set_default_tensor_type are the script's: what the tracer makes lies on the CPU."""

import sys

_mode = []


def on_cpu():
    """A context in which tensors are made on the CPU where nothing else is said; None where they are anyway."""
    torch = sys.modules.get("torch")
    functions = getattr(torch, "_C", None)
    depth = getattr(functions, "_len_torch_function_stack", None)
    if depth is None or (depth() == 0 and functions._get_default_device() == "cpu"):
        return None
    if not _mode:
        _mode.append(_made(torch))
    return _mode[0]() if _mode[0] is not None else None


def _made(torch):
    """torch.device("cpu") as a context would do, but that is one for all threads of a process."""
    try:
        from torch.overrides import TorchFunctionMode
        from torch.utils._device import _device_constructors

        makers = _device_constructors()
    except ImportError:
        return None

    class OnCpu(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if func in makers and kwargs.get("device") is None:
                kwargs["device"] = "cpu"
            return func(*args, **kwargs)

    return OnCpu
