"""What is told of a language model besides its head: its way of knowing positions, what its logits go through, how its
gradients are averaged, whether its adapters are off; and the versions of the libraries that it is made with."""

import sys

import torch

from ..gradient._recovery import IDENTITY, Post

# Ways of averaging gradients over processes, by a class in the line of the module's classes.
AVERAGING = ("DistributedDataParallel", "FullyShardedDataParallel", "FSDPModule", "DeepSpeedEngine")

ROTARY = ("rotary", "rope", "freqs_cis", "rope_theta", "rope_parameters")
ABSOLUTE = ("wpe", "position_embed", "embed_positions", "pos_emb", "positional", "posenc", "pe.")
RELATIVE = ("relative_attention_bias", "alibi", "relative_position")


def declared_post(root):
    """What Hugging Face configurations say of the way from the head to the logits."""
    config = getattr(root, "config", None)
    if config is None:
        return IDENTITY
    config = getattr(config, "get_text_config", lambda: config)()
    scale, cap = 1.0, None
    for name in ("logit_scale", "output_multiplier"):
        value = getattr(config, name, None)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            scale = float(value)
    value = getattr(config, "logits_scaling", None)
    if isinstance(value, (int, float)) and value:
        scale = scale / float(value)
    value = getattr(config, "final_logit_softcapping", None)
    if isinstance(value, (int, float)) and value:
        cap = float(value)
    return IDENTITY if scale == 1.0 and cap is None else Post(scale, cap)


def positions(module):
    names = [name.lower() + "." for name, _ in module.named_modules()]
    tensors = [name.lower() for name, _ in module.named_parameters()] + [name.lower() for name, _ in module.named_buffers()]
    config = getattr(module, "config", None)
    if any(word in name for word in RELATIVE for name in names):
        return "relative"
    if any(word in name for word in ROTARY for name in names + tensors):
        return "rotary"
    if any(word in name for word in ABSOLUTE for name in names + [name + "." for name in tensors]):
        return "absolute"
    values = vars(config) if config is not None and hasattr(config, "__dict__") else {}
    if any(values.get(word) is not None for word in ROTARY):
        return "rotary"
    if values.get("position_embedding_type") == "absolute":
        return "absolute"
    return "unknown"


def placeholders(module):
    """Ids that stand where a part of an image, a video or sound is put in, as the configuration has them."""
    config = getattr(module, "config", None)
    names = [kind + "_token_" + what for kind in ("image", "video", "audio") for what in ("id", "index")]
    found = [getattr(config, name, None) for name in names]
    return sorted({each for each in found if isinstance(each, int) and not isinstance(each, bool) and each >= 0})


def averaged_over(modules):
    """Processes over which gradients are averaged, by the modules that the call went through."""
    for module in modules:
        names = {kind.__name__ for kind in type(module).__mro__}
        if names & set(AVERAGING):
            group = getattr(module, "process_group", None)
            try:
                if hasattr(group, "size"):
                    return int(group.size())
                return int(torch.distributed.get_world_size())
            except Exception:  # noqa: BLE001 - no group any more
                return 1
    return 1


def adapters_off(module):
    """A PEFT layer is there, and off."""
    if "peft" not in sys.modules:
        return False
    for part in module.modules():
        if "BaseTunerLayer" in {kind.__name__ for kind in type(part).__mro__}:
            return _off(part)
    return False


def plain_head(head):
    """The module whose weight and bias are what the head does; None where adapters are at work in it. PEFT keeps a trained copy
    beside the original, or layers of its own around it."""
    copies = getattr(head, "modules_to_save", None)
    if copies is not None and hasattr(head, "original_module"):
        active = getattr(head, "active_adapters", None) or getattr(head, "active_adapter", None)
        name = active if isinstance(active, str) else next(iter(active or ()), None)
        return head.original_module if _off(head) or name not in copies else copies[name]
    base = getattr(head, "base_layer", head)
    return base if base is head or _off(head) or getattr(head, "merged", False) or not _active(head) else None


def _off(layer):
    return bool(getattr(layer, "disable_adapters", False) or getattr(layer, "_disable_adapters", False))


def _active(layer):
    """Names of the adapters that a PEFT layer has and that are active."""
    named = set()
    for name in getattr(layer, "adapter_layer_names", None) or ():
        named.update(getattr(getattr(layer, name, None), "keys", tuple)())
    active = getattr(layer, "active_adapters", None) or ()
    return named & set([active] if isinstance(active, str) else active)


def versions():
    out = {"torch": str(torch.__version__)}
    for name in ("transformers", "trl", "peft", "accelerate"):
        module = sys.modules.get(name)
        if module is not None and getattr(module, "__version__", None):
            out[name] = str(module.__version__)
    return out
