"""Layers and wrappers named and shaped as those of PEFT, as far as the tracer looks at them."""

from torch import nn


class BaseTunerLayer:
    adapter_layer_names = ("lora_A", "lora_B")


class LoraLinear(nn.Module, BaseTunerLayer):
    def __init__(self, base):
        super().__init__()
        self.base_layer = base
        self.lora_A = nn.ModuleDict({"default": nn.Linear(base.in_features, 2, bias=False)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(2, base.out_features, bias=False)})
        self._disable_adapters = False
        self.active_adapters = ["default"]

    @property
    def disable_adapters(self):
        return self._disable_adapters

    def forward(self, x):
        out = self.base_layer(x)
        return out if self._disable_adapters else out + self.lora_B["default"](self.lora_A["default"](x))


class BaseTuner(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *args, **kwargs):
        return self.model.forward(*args, **kwargs)


class PeftModel(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.base_model = BaseTuner(model)

    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.base_model.model, name)

    def forward(self, input_ids=None, attention_mask=None, **kwargs):
        return self.base_model(input_ids=input_ids, attention_mask=attention_mask, **kwargs)
