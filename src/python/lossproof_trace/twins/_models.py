"""Changes of a model before its first call: how it computes attention, and what it keeps for its backward pass."""


def attention(told, root):
    """sdpa for eager, and eager for all others."""
    now = getattr(root.config, "_attn_implementation", None)
    change = getattr(root, "set_attn_implementation", None)
    if now is None or change is None:
        return
    other = "sdpa" if now == "eager" else "eager"
    try:
        change(other)
    except Exception:  # noqa: BLE001 - it has no such attention
        return
    if root.config._attn_implementation == other:
        told.applied(was=now, now=other)


def checkpointing(told, root):
    """Off where it is on, and on where it is off."""
    if getattr(root, "is_gradient_checkpointing", False):
        root.gradient_checkpointing_disable()
        told.applied(was="on", now="off")
    elif getattr(root, "supports_gradient_checkpointing", False):
        root.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        told.applied(was="off", now="on")


CHANGES = {"attention": attention, "checkpointing": checkpointing}
