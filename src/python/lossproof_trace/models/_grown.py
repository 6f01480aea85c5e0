"""Embeddings that grow, and the rows of tokens that the script adds: which tensors hold them, and whether anything was written there
since."""

import functools
import weakref

import torch

# Rows of an embedding that are remembered, and elements of each.
MOST = 4096
FEW = 8
# Of a vocabulary that has rows to spare: what is added to another model's tokenizer has ids further down.
SPARE = 1024

# Model to (rows before it grew, the first elements of those behind them).
_grown = weakref.WeakKeyDictionary()


def install(session, base):
    """`base`: the class of transformers that its models derive from."""
    original = base.resize_token_embeddings

    @functools.wraps(original)
    def resize_token_embeddings(self, *args, **kwargs):
        old = None
        with session.guard("resized embeddings"):
            old = weight_of(self)
        rows = 0 if old is None else old.shape[0]
        result = original(self, *args, **kwargs)
        with session.guard("resized embeddings"), torch.no_grad():
            new = weight_of(self)
            if rows and new is not None and new.shape[0] > rows:
                first, kept = _grown.get(self, (rows, None))
                made = new[rows : first + MOST, :FEW].detach().clone()
                # What was written into the rows of an earlier growth since then stays a change.
                _grown[self] = (first, made if kept is None else torch.cat([kept[: rows - first].to(made), made]))
        return result

    base.resize_token_embeddings = resize_token_embeddings


def told(session, model, added):
    """Before the first training forward pass of a model: an `event` of the tokens that were added to its vocabulary. `added`: id of
    a token to where the script added it."""
    root = model.root
    if not added or root is None:
        return
    weight = weight_of(root)
    if weight is None:
        return
    rows = weight.shape[0]
    first, made = _grown.get(root, (None, None))
    since = rows - SPARE if first is None else first
    ids = [each for each in sorted(added) if since <= each < rows]
    if not ids:
        return
    written = []
    if made is not None:
        own = [each for each in ids if each - first < made.shape[0]]
        now = weight[own, :FEW].detach()
        then = made[[each - first for each in own]].to(now.device).to(now.dtype)
        written = [each for each, same in zip(own, (now == then).all(-1).tolist()) if not same]
    names = {id(parameter): name for name, parameter in root.named_parameters()}
    session.write(
        "event",
        what="added",
        step=session.step,
        model=model.index,
        place=added[ids[0]],
        names=named(root.get_input_embeddings(), names),
        values={"ids": ids, "written": written, "grown": first is not None, "head": named(model.head, names)},
    )


def named(module, names):
    """Names of all tensors of a part, adapters within it included."""
    return [] if module is None else [names[id(each)] for each in module.parameters() if id(each) in names]


def weight_of(model):
    """(V, d) of the input embedding of a model of transformers; None where it cannot be read."""
    get = getattr(model, "get_input_embeddings", None)
    try:
        weight = getattr(get(), "weight", None) if callable(get) else None
    except Exception:  # noqa: BLE001 - some kinds of model have none
        return None
    if not isinstance(weight, torch.Tensor) or weight.ndim != 2 or weight.numel() == 0 or weight.is_meta:
        return None
    return None if hasattr(weight, "to_local") or not weight.is_floating_point() else weight
