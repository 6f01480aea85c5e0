"""Half precision by autocast: whether the script has any, whose rounding is that of bfloat16 or float16 then; and the other
precision in its place."""

import functools
import threading

from ..forward import _arguments

HALVES = ("bfloat16", "float16")


def install(torch, told, off=None):
    """`told`: the script computes in half precision. `off`: it is made not to, and that is told."""
    owner = torch.autocast
    original = owner.__enter__

    @functools.wraps(original)
    def enter(self):
        if getattr(self, "_enabled", False) and not torch.compiler.is_compiling():
            name = str(getattr(self, "fast_dtype", "")).replace("torch.", "")
            if name in HALVES:
                told.applied(dtype=name)
                if off is not None:
                    off.applied(was=name, now="float32")
                    self._enabled = False
        return original(self)

    owner.__enter__ = enter


def install_on(torch, told):
    """The calls of models, and of all that has ids, are in bfloat16; what they return is float32 again, as with accelerate."""
    from torch.utils import _pytree

    local = threading.local()
    original = torch.nn.Module.__call__

    def wide(value):
        halves = isinstance(value, torch.Tensor) and value.dtype is torch.bfloat16
        return value.float() if halves else value

    @functools.wraps(original)
    def call(self, *args, **kwargs):
        if getattr(local, "inside", False) or torch.compiler.is_compiling() or not _arguments.has_ids(args, kwargs):
            return original(self, *args, **kwargs)
        first = next(self.parameters(), None)
        if first is None or first.dtype is not torch.float32:
            return original(self, *args, **kwargs)
        local.inside = True
        try:
            told.applied(was="float32", now="bfloat16")
            with torch.autocast(device_type=first.device.type, dtype=torch.bfloat16):
                result = original(self, *args, **kwargs)
        finally:
            local.inside = False
        return _pytree.tree_map(wide, result)

    torch.nn.Module.__call__ = call
