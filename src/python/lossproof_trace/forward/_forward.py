"""One call of a language model: its `forward` record, the hooks on its tensors, and the `trained` records of backward passes.

Where logits come into being, the hook is on them; else it is on the hidden states that the head reads, where the gradients
of all uses meet, be they slices, chunks, or fused losses. Both fire: the logits tell, as other heads may read the hidden
states. Nothing of the size of the logits is kept: a few of their entries are, and the hidden states.
"""

import weakref

import torch

from ..gradient import _post
from ..gradient._logits import FEW_ENTRIES, entries_of
from ..gradient._recovery import IDENTITY, coarsest
from ..models import _models
from . import _arguments, _beside, _calls, _head_rows
from ._backward import on_hidden, on_logits, on_loss
from ._passes import Piece
from ._places import place_of
from ._results import logits_in, loss_in
from ._teachers import remember
from ._told import forward_record, next_index, tell_blind
from ._values import Given, without_next

# Above this many products of positions, vocabulary and width, `auto` is the cheap mode: seconds on a few cores.
EXACT_PRODUCTS = 2e10

# Log-probabilities of all inputs cost one look at all logits; the cheap mode leaves larger ones out.
CHEAP_LOGPROBS = 10**8

# Entries of the logits that the exact mode keeps, of all positions together.
EXACT_ENTRIES = 2**19


class Forward:
    def __init__(self, session, frame, model, vocab):
        self.session, self.model, self.vocab = session, model, vocab
        self.index = None
        self.call = None
        self.frame, self.named = frame, frame.named
        self.ids = frame.ids.detach()
        self.through = getattr(frame, "through", ())
        self.compiled = _calls.compiled(frame.module)
        self.grad = torch.is_grad_enabled()
        self.training = bool(getattr(_models.carried(frame.module), "training", False))
        self.precision = "float64"
        self.rounded()
        self.candidates = None
        self.hidden = None
        self.hidden_hooked = False
        self.pieces = []
        self.post = model.post
        # (B, T) log-probabilities of the ids, token-aligned, once they are reckoned.
        self.logprobs = None
        self.current = None
        self.logits_spoke = False
        self.beside = None

    # Inside of the call

    def rounded(self):
        """Autocast may begin inside of the call: accelerate wraps the method `forward`."""
        self.precision = coarsest(self.precision, autocast(self.ids.device))

    def saw_hidden(self, hidden):
        if hidden is None or not self.grad or not hidden.requires_grad or hidden.shape[:2] != self.ids.shape:
            return
        self.hidden = hidden.detach()
        self.rounded()
        self.think()
        if not self.hidden_hooked:
            self.hidden_hooked = True
            hidden.register_hook(lambda gradient: on_hidden(self, gradient))

    def saw_head(self, x, out):
        if x is None or out is None or not self.grad or not out.requires_grad or out.shape[-1] != self.vocab:
            return
        place = place_of(x, tuple(self.ids.shape), self.hidden)
        if place is None:
            _head_rows.of(self.model).unknown = True
            return
        if self.hidden is None and place == (0, self.ids.shape[1]):
            self.hidden = x.detach().reshape(*self.ids.shape, x.shape[-1])
        piece = self.keep(out, place, IDENTITY)
        piece.out = weakref.ref(out)
        piece.reads = _beside.reads(self, x, place)
        piece.given = Given(x)

    def keep(self, out, place, post):
        """Looks at logits as they come into being, before anything is done to them in place, and waits for their gradient."""
        start, width = place
        self.rounded()
        rows = self.ids.shape[0]
        z = out.detach().reshape(-1, self.vocab)
        self.think()
        candidates = self.candidates.reshape(rows, self.ids.shape[1], -1)[:, start : start + width]
        candidates = candidates.reshape(rows * width, -1)
        candidates = torch.where(candidates < self.vocab, candidates, -1)
        count = rows * width
        most = max(FEW_ENTRIES, EXACT_ENTRIES // max(1, count)) if self.exact(out) else FEW_ENTRIES
        entries = entries_of(self.vocab, most).to(z.device)
        piece = Piece(
            start=start,
            width=width,
            entries=entries,
            z_entries=z.index_select(1, entries),
            candidates=candidates,
            z_candidates=z.gather(1, candidates.clamp(min=0)),
            whole=without_next(z, candidates),
            post=post,
            dtype=str(out.dtype).replace("torch.", ""),
        )
        self.pieces.append(piece)
        out.register_hook(lambda gradient: on_logits(self, piece, gradient))
        return piece

    def think(self):
        if self.candidates is None:
            self.candidates = _arguments.candidates_of(self.ids, self.named)

    def exact(self, tensor):
        if self.session.mode != "auto":
            return self.session.mode == "exact"
        width = self.hidden.shape[-1] if self.hidden is not None else 64
        return float(self.ids.numel()) * self.vocab * width <= EXACT_PRODUCTS

    # At its end

    def returned(self, result):
        if self.again():
            return
        shape = self.ids.shape
        logits = logits_in(result, shape, {self.vocab: None})
        place = None
        if logits is not None:
            wide = logits.numel() // self.vocab // max(1, shape[0])
            place = (self.pieces[0].start, wide) if len(self.pieces) == 1 and self.pieces[0].width == wide else (shape[1] - wide, wide)
        if logits is not None and self.pieces:
            self.leave_others(logits)
            self.learn_post(logits)
        elif logits is not None and self.grad and logits.requires_grad:
            self.keep(logits, place, IDENTITY)
        self.grad = self.grad and (bool(self.pieces) or self.hidden_hooked)
        loss = loss_in(result) if torch.is_grad_enabled() else None
        if loss is not None and not self.hidden_hooked:
            loss.register_hook(lambda gradient: on_loss(self))
        scored = logits is not None and not self.grad
        if scored:
            # Of what it was called with, nothing is kept once it is written.
            self.think()
        self.write(logits, place)
        if scored:
            remember(self, logits, place, self.candidates)
        self.model.recent.append((self.ids, self.grad))
        if loss is not None and not self.grad:
            tell_blind(self)

    def again(self):
        """Gradient checkpointing calls a model again inside of the backward pass; what was called without gradients is
        trained only now."""
        if torch._C._current_graph_task_id() == -1:
            return False
        for ids, grad in reversed(self.model.recent):
            if ids.shape == self.ids.shape and bool((ids == self.ids).all()):
                return grad
        return False

    def leave_others(self, logits):
        """A head may be called again with other hidden states of the same columns, to predict further tokens. The logits that are
        returned first are the model's; the others have targets of their own."""
        own = next((piece for piece in self.pieces if piece.out is not None and piece.out() is logits), None)
        others = [] if own is None else [piece for piece in self.pieces if predicts_else(piece, own)]
        for piece in others:
            piece.dead = True
        if others:
            self.pieces = [piece for piece in self.pieces if not piece.dead]
            _head_rows.of(self.model).unknown = True

    def learn_post(self, logits):
        piece = self.pieces[0]
        if len(self.pieces) != 1 or logits.numel() // self.vocab != piece.z_entries.shape[0]:
            return
        z = logits.detach().reshape(-1, self.vocab)[-1, piece.entries].double()
        precise = coarsest(piece.dtype, self.precision) in ("float32", "float64")
        post = _post.learned(piece.z_entries[-1].double(), z, self.model.post, precise)
        if post is not None:
            piece.post = self.post = self.model.post = post
        elif logits.requires_grad and torch.is_grad_enabled():
            # Another way than a scale or a cap: only what is returned has the softmax's form.
            piece.dead = True
            self.keep(logits, (piece.start, piece.width), IDENTITY)

    def write(self, logits, place):
        # Of a loop that samples, the calls are no scoring: whether it is one is known only behind the call.
        decoding = self.session.decoding
        if decoding is None or not decoding.called(self, logits, place):
            self.put(self.told(logits, place))

    def told(self, logits, place):
        large = logits is not None and self.ids.shape[0] * place[1] * self.vocab > CHEAP_LOGPROBS
        fields = forward_record(self, None if large and not self.exact(logits) else logits, place)
        self.logprobs = fields["logprobs"]
        self.call = getattr(self.frame, "call", None)
        self.frame = self.named = None
        return fields

    def put(self, fields):
        self.index = next_index()
        self.session.write("forward", forward=self.index, **fields)


def predicts_else(piece, own):
    """Of columns that `own` has too, from other hidden states."""
    apart = piece.start >= own.start + own.width or own.start >= piece.start + piece.width
    if piece is own or apart or piece.given is None or own.given is None:
        return False
    return piece.width == own.width and not torch.equal(piece.given.x, own.given.x)


def autocast(device):
    """The dtype that products are rounded to, where it is not that of the tensors."""
    try:
        if torch.is_autocast_enabled(device.type):
            return str(torch.get_autocast_dtype(device.type)).replace("torch.", "")
    except Exception:  # noqa: BLE001 - older torch takes no argument here
        pass
    # TF32 has the digits of float16.
    return "float16" if device.type == "cuda" and any(map(true, TF32)) else "float64"


# By the setting of old, by the one that came with torch 2.9, and by the function that most scripts call.
TF32 = (
    lambda: torch.backends.cuda.matmul.allow_tf32,
    lambda: torch.backends.cuda.matmul.fp32_precision == "tf32",
    lambda: torch.get_float32_matmul_precision() != "highest",
)


def true(said):
    try:
        return bool(said())
    except Exception:  # noqa: BLE001 - torch raises where a script has set it in the old way and in the new
        return False
