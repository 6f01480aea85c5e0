"""What axolotl imports and is not installed: STUBS, and what it makes use of."""

import sys
import types

STUBS = ["bitsandbytes", "fire", "peft", "modelscope", "posthog", "s3fs", "dotenv", "flash_attn", "deepspeed", "xformers", "torchao", "triton", "scipy", "numba", "optimum", "liger_kernel", "kernels"]


class Dict(dict):
    """Of addict, which is not installed, what DictDefault makes use of: keys as attributes, and the same below."""

    def __init__(self, *given, **more):
        super().__init__()
        for key, value in dict(*[each for each in given if each is not None], **more).items():
            self[key] = self._hooked(value)

    @classmethod
    def _hooked(cls, value):
        if isinstance(value, dict):
            return cls(value)
        return [cls._hooked(each) for each in value] if isinstance(value, list) else value

    def __getattr__(self, name):
        return self[name]

    def __setattr__(self, name, value):
        self[name] = value

    def to_dict(self):
        return {key: value.to_dict() if isinstance(value, Dict) else value for key, value in self.items()}


sys.modules["addict"] = types.SimpleNamespace(Dict=Dict)
sys.modules["colorama"] = types.SimpleNamespace(Fore=types.SimpleNamespace(CYAN="", RESET=""), Style=None, init=None)
