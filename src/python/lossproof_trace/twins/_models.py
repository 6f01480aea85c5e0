"""Changes of a model before its first call: how it computes attention, and what it keeps for its backward pass."""

from . import _adapters


def has_attention(root):
    return getattr(root.config, "_attn_implementation", None) is not None and hasattr(root, "set_attn_implementation")


def attention(told, root):
    """sdpa for eager, and eager for all others."""
    if not has_attention(root):
        return
    now = root.config._attn_implementation
    other = "sdpa" if now == "eager" else "eager"
    try:
        root.set_attn_implementation(other)
    except Exception:  # noqa: BLE001 - it has no such attention
        return
    if root.config._attn_implementation == other:
        told.applied(was=now, now=other)


def has_checkpointing(root):
    return any(getattr(root, name, False) for name in ("is_gradient_checkpointing", "supports_gradient_checkpointing"))


def checkpointing(told, root):
    """Off where it is on, and on where it is off."""
    if getattr(root, "is_gradient_checkpointing", False):
        root.gradient_checkpointing_disable()
        told.applied(was="on", now="off")
    elif getattr(root, "supports_gradient_checkpointing", False):
        root.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        told.applied(was="off", now="on")


CHANGES = {"attention": attention, "checkpointing": checkpointing, "merged": _adapters.merged}
# Whether there is anything to change, as a run without the change says.
COULD = {"attention": has_attention, "checkpointing": has_checkpointing, "merged": _adapters.can_merge}
