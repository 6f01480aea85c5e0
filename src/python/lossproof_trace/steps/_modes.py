"""What a model is when its training begins: tied weights that are two, and freezing that was written and does nothing."""

from ..models import _models
from . import _tensors

# What people write on a parameter or a module in the place of `requires_grad`, which then is any attribute.
MISSPELT = ("require_grad", "requires_gradient", "require_grads", "requires_grads", "required_grad")


def told(session, torch, model):
    root = model.root
    _untied(session, torch, model, root)
    for name, module in root.named_modules():
        held = vars(module)
        wrong = [word for word in ("requires_grad", *MISSPELT) if held.get(word) is False]
        free = [label for label, p in module.named_parameters() if p.requires_grad]
        if wrong and free:
            _write(session, "no-freeze", model, [("%s.%s" % (name, label)).lstrip(".") for label in free], written=wrong[0], on=name)
    for word in MISSPELT:
        names = [name for name, p in root.named_parameters() if p.requires_grad and getattr(p, word, None) is False]
        if names:
            _write(session, "no-freeze", model, names, written=word, on=None)


def _untied(session, torch, model, root):
    head = _weight(model.head)
    if head is None:
        return
    config = getattr(root, "config", None)
    config = getattr(config, "get_text_config", lambda: config)() if config is not None else None
    declared = getattr(config, "tie_word_embeddings", None) is True
    if declared:
        try:
            tables = [_weight(root.get_input_embeddings())]
        except Exception:  # noqa: BLE001 - some kinds of model have none
            return
    else:
        tables = [_weight(table) for table in _models.embeddings(root)]
    if declared and any(table is not None and _storage(table) == _storage(head) for table in tables):
        _write(session, "tied", model, [])
    for table in tables:
        if table is None or table is head or table.shape != head.shape or _storage(table) == _storage(head):
            continue
        if table.dtype != head.dtype or table.device != head.device:
            equal = False
        else:
            now, then = _tensors.few_of(torch, table, 4096)[1], _tensors.few_of(torch, head, 4096)[1]
            equal = bool((now == then).all()) and bool((now != now[0]).any())
        if declared or equal:
            names = {id(p): name for name, p in root.named_parameters(remove_duplicate=False)}
            both = [names.get(id(each)) for each in (table, head)]
            if None not in both:
                _write(session, "untied", model, both, declared=declared, equal=equal)


def _weight(module):
    base = getattr(module, "base_layer", module)
    weight = getattr(base, "weight", None)
    # Of a sharded or gathered one it cannot be said what it shares.
    if not isinstance(weight, torch_parameter()) or weight.ndim != 2 or weight.numel() == 0 or weight.is_meta:
        return None
    return None if hasattr(weight, "to_local") else weight


def torch_parameter():
    from torch import nn

    return nn.Parameter


def _storage(tensor):
    return tensor.untyped_storage().data_ptr()


def _write(session, what, model, names, **values):
    session.write("event", what=what, step=session.step, model=model.index, place=None, names=names[:256], values={**values, "tensors": len(names)})
