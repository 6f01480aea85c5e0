"""Whether the head's gradient is, at a step, the sum of what went through the head since the step before."""

from ..forward import _head_rows
from ..models import _models, _traits

# Below so many rows, or where all of them are next to nothing, nothing is compared.
FEWEST = 4
# A rework of the gradients between the last backward pass and the step that is one factor for all.
ONE_FACTOR = 0.9999


def told(session, torch, pending, backwards, held):
    """One `event` for each model of which all was read."""
    for model in _models.known():
        if model.index not in pending.models:
            continue
        rows = _head_rows.spent(model)
        if rows is None or rows.unknown or rows.expected is None or session.thrown or held.left or not alone(torch):
            continue
        compared = compare(torch, model, rows)
        changed = backwards.changed()
        if compared is None or changed is None or changed[1] < ONE_FACTOR:
            continue
        factor, cosine = compared
        values = {"factor": factor / changed[0], "cosine": cosine, "passes": rows.passes, "half": rows.dtype in ("float16", "bfloat16")}
        session.write("event", what="head", step=pending.index, model=model.index, place=pending.place, names=[], values=values)


def compare(torch, model, rows):
    """(factor, cosine) of the gradient against what it should be; None: there is nothing to compare."""
    weight = model.table
    if weight is None:
        weight = getattr(_traits.plain_head(model.head), "weight", None)
    gradient = getattr(weight, "grad", None)
    if gradient is None or gradient.is_sparse or hasattr(gradient, "to_local") or gradient.shape[1:] != rows.expected.shape[1:]:
        return None
    keep = torch.ones(len(rows.ids), dtype=torch.bool)
    if any(table.weight is weight for table in _models.embeddings(model.root)):
        # What is looked up has a gradient from below as well.
        keep = ~torch.isin(rows.ids, torch.cat(rows.given))
    if int(keep.sum()) < FEWEST:
        return None
    expected = rows.expected[keep.to(rows.expected.device)].double().flatten()
    found = gradient[rows.ids[keep].to(gradient.device)].double().flatten().to(expected.device)
    ee, ef, ff = (float((a * b).sum()) for a, b in ((expected, expected), (expected, found), (found, found)))
    if not ee > 0 or not ff > 0:
        return None
    return ef / ee, ef / (ee * ff) ** 0.5


def alone(torch):
    """What several processes add up is not known to one."""
    distributed = torch.distributed
    return not (distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1)

