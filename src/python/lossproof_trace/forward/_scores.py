"""Models that give a few numbers per row or per token and predict no token: reward models, critics, classifiers. Of their
calls the rows are recorded, and the gradient that comes back to their scores, so that whole steps can be judged."""

import torch

from ..models import _models, _owners
from . import _results
from ._told import forward_record, next_index

# More classes than this are taken for a vocabulary.
MOST_CLASSES = 1024


def scoring(session, frame, core, result):
    """The Scoring of a call that returned scores with gradients; None: it is none, or a language model is trained here, beside
    which a reward model or a critic makes no step of its own. Workers of Ray train one in another process."""
    if not torch.is_grad_enabled() or session.leaving is not None or _models.watched(core) is not None:
        return None
    found = scores_in(core, frame.ids.shape, result)
    if found is None:
        return None
    model = _models.find(core)
    if model is None:
        if _owners.trains_language(session, core):
            return None
        model = _models.add(session, core, "score", 0, found[1], frame.ids.device, frame.seated)
    return Scoring(session, frame, model, found[0])


def scores_in(core, shape, result):
    """(tensor, head) of what a module returned; None: its head has no output of that width."""
    parts = [part for part in core.modules() if isinstance(getattr(part, "out_features", None), int)]
    widths = {part.in_features for part in parts if isinstance(getattr(part, "in_features", None), int)}
    widths |= {part.embedding_dim for part in _models.embeddings(core)}
    for value in _results.tensors_in(result):
        width = width_of(value, shape)
        heads = [part for part in parts if part.out_features == width]
        # Hidden states are as wide as what the next layer reads, or the embedding.
        if heads and width <= MOST_CLASSES and (width == 1 or width not in widths):
            return value, heads[-1]
    loss = _results.loss_in(result)
    heads = [part for part in parts if part.out_features == 1]
    return (loss, heads[-1]) if loss is not None and heads else None


def width_of(value, shape):
    """Numbers per row, or per token; None: the tensor is of another shape, or has no gradient."""
    if not value.is_floating_point() or not value.requires_grad or value.ndim == 0 or value.shape[0] != shape[0]:
        return None
    if value.ndim == 1 or tuple(value.shape) == tuple(shape):
        return 1
    if value.ndim == 2 or (value.ndim == 3 and tuple(value.shape[:2]) == tuple(shape)):
        return int(value.shape[-1])
    return None


class Scoring:
    """One such call. It has what a `forward` record is made of."""

    grad = True

    def __init__(self, session, frame, model, scores):
        self.session, self.model = session, model
        self.frame, self.named, self.through = frame, frame.named, getattr(frame, "through", ())
        self.ids = frame.ids.detach()
        self.training = bool(_models.carried(frame.module).training)
        self.scores = scores
        self.index = None

    def returned(self, result):
        # Gradient checkpointing calls it again, inside of the backward pass.
        if torch._C._current_graph_task_id() != -1:
            return
        self.index = next_index()
        self.session.write("forward", forward=self.index, **forward_record(self, None, None))
        scores, self.scores, self.frame, self.named = self.scores, None, None, None
        scores.register_hook(self.arrived)

    def arrived(self, gradient):
        with self.session.guard("backward"):
            if gradient is not None:
                self.write(gradient.detach())

    def write(self, gradient):
        rows, columns, weights = told(gradient, tuple(self.ids.shape))
        finite = weights.isfinite()
        at = finite & (weights != 0)
        count = int(at.sum())
        unknown = torch.full((count,), float("nan"))
        self.session.write(
            "trained",
            forward=self.index,
            route="scores",
            dtype=str(gradient.dtype).replace("torch.", ""),
            rows=rows[at],
            columns=columns[at],
            targets=torch.full((count,), -1, dtype=torch.int32),
            weights=weights[at] / self.session.grad_scale(),
            residuals=unknown,
            temperatures=unknown,
            logprobs=unknown,
            not_finite=int((~finite).sum()),
            **({} if self.session.in_grad() is None else {"pass": self.session.in_grad()}),
        )


def told(gradient, shape):
    """(rows, columns, weights) of a gradient of scores: -dL/dscore, and of several numbers at one place the gradient's norm. A
    number per row stands behind the row's last column; a loss is of all rows."""
    rows, columns = shape
    gradient = gradient.float().cpu()
    if gradient.ndim == 0:
        gradient = -gradient.expand(rows)
    per_token = tuple(gradient.shape[:2]) == shape and gradient.ndim > 1 and not (gradient.ndim == 2 and columns == 1)
    flat = gradient.reshape(rows * columns if per_token else rows, -1)
    weights = -flat[:, 0] if flat.shape[1] == 1 else torch.linalg.vector_norm(flat, dim=1)
    at = torch.arange(flat.shape[0], dtype=torch.int32)
    if per_token:
        return at // columns, at % columns, weights
    return at, torch.full_like(at, columns), weights
