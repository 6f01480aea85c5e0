"""PEFT's LoRA layers give what they give with their adapters merged into the weights.

B is zero at first, so that any merging agrees. Each layer is therefore called twice more, with a B that changes its weights by a
quarter: once merged, once not. What parts these two is added to what the layer returns. Gradients are those of
the layer as it is.
"""

import functools

SEED = 7919
SHARE = 0.25


def can_merge(root):
    return any(_can_merge(layer) for layer in root.modules())


def merged(told, root):
    import torch

    generator = torch.Generator().manual_seed(SEED)
    for layer in root.modules():
        if _can_merge(layer):
            layer.forward = functools.partial(called, torch, layer, layer.forward, generator.get_state(), told)


def _can_merge(layer):
    """Of whole numbers (a quantised weight) merging rounds anew, and some variants of LoRA cannot be merged."""
    base = getattr(layer, "get_base_layer", lambda: None)()
    weight = getattr(base, "weight", None)
    if not all(hasattr(layer, name) for name in ("merge", "unmerge", "lora_A", "lora_B", "merged", "scaling")):
        return False
    if weight is None or not weight.is_floating_point() or hasattr(weight, "to_local"):
        return False
    variants = getattr(layer, "lora_variant", None) or {}
    return not hasattr(layer, "lora_E") and all(type(each).__name__.startswith("Dora") for each in variants.values())


def called(torch, layer, forward, state, told, *args, **kwargs):
    out = forward(*args, **kwargs)
    if layer.merged or getattr(layer, "disable_adapters", False) or kwargs.get("adapter_names") is not None:
        return out
    difference = None
    with told.session.guard("merged adapters"), torch.no_grad():
        kept = [(parameter, parameter.detach().clone()) for parameter in layer.parameters()]
        try:
            nudge(torch, layer, state)
            apart = forward(*args, **kwargs)
            layer.merge()
            together = forward(*args, **kwargs)
            was_merged = layer.merged
            # It may be that nothing is active.
            if was_merged:
                layer.unmerge()
        finally:
            # To the last bit: what is added and taken away again leaves some rounding.
            for parameter, value in kept:
                parameter.data.copy_(value)
        if was_merged:
            told.applied()
            difference = (together - apart).to(out.dtype)
    return out if difference is None else out + difference


def nudge(torch, layer, state):
    generator = torch.Generator()
    generator.set_state(state)
    size = SHARE * rms(layer.get_base_layer().weight)
    named = dict(layer.named_parameters())
    for name, parameter in named.items():
        if "lora_B" not in name and "lora_embedding_B" not in name:
            continue
        other = named.get(name.replace("_B", "_A"))
        if other is None:
            continue
        adapter = name.split(".")[1]
        scale = abs(float(layer.scaling.get(adapter, 1.0))) or 1.0
        rank = min(other.shape)
        amount = size / max(scale * rms(other) * rank**0.5, 1e-12)
        signs = torch.randint(0, 2, parameter.shape, generator=generator) * 2 - 1
        parameter.data.add_(amount * signs.to(device=parameter.device, dtype=parameter.dtype))


def rms(tensor):
    return float(tensor.detach().float().square().mean().sqrt())
