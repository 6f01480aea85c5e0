"""Loops of the script's own that sample: calls of a model that go on with one another, and tokens that are drawn between them.

What is fed next is what was sampled, whoever drew it; torch.multinomial and argmax (_draws.py) tell of the tokens before
that, of the last ones too, and of the settings. The calls of such a loop are no scoring, so that they make no records:
one call is held back until it is known. A `generate` record comes of each loop.
"""

import threading
import time

import torch

from ..forward import _arguments
from . import _draws, _sequences
from ._fits import Settings, fitted, of_prompt
from ._rows import Rows

# Ids of all rows of a loop together, above which it is not followed.
MOST = 2**24
# Logits of one call that are held back as they are.
MOST_HELD = 2**24
# Columns that must have been fed one by one where nobody was seen drawing.
LEAST_GROWN = 3


class Loop:
    def __init__(self, session, model, ids, mask):
        self.step, self.time, self.model = session.step, time.time(), model
        # Tokenizers may be gone when the loop is known to have ended: an actor of Ray dies with all that it holds.
        self.stops, self.pad = _sequences.known_stops(model), _sequences.pad_of()
        self.rows = Rows(ids, mask)
        self.settings = Settings()
        self.random, self.greedy, self.draws, self.columns = False, True, 0, 0
        # (B, V) behind the latest call, and all of them where they are few.
        self.last = self.all = None

    def best(self):
        return None if self.last is None else self.last.argmax(-1).cpu()


class Decoding:
    def __init__(self, session, record, install):
        self.session, self.record, self.install = session, record, install
        self.loops = {}
        self.local = threading.local()
        self.held = None
        self.lost = set()
        session.before_step.append(lambda *_: self.finish())
        session.on_ending.append(lambda *_: self.finish())

    # Calls of models

    def called(self, forward, logits, place):
        """Whether the record of this call is to wait."""
        session = self.session
        if capturing(forward.ids):
            return False
        with session.guard("decoding"):
            return self.follow(forward, logits, place)
        self.distrust(forward.model.index)
        return False

    def distrust(self, model):
        """A fault of the tracer's: what it has of this loop is not to be told."""
        with self.session.guard("decoding"):
            self.held = None
            if self.loops.pop(model, None) is not None:
                self.lose(model)

    def follow(self, forward, logits, place):
        ids, model = forward.ids, forward.model
        held, self.held = self.held, None
        before = self.loops.get(model.index)
        trains = forward.grad and forward.training
        if trains or ids.numel() == 0 or ids.numel() > MOST or torch._C._current_graph_task_id() != -1:
            self.let_go(held)
            self.finish()
            return False
        self.install()
        # The script may write to its own in place.
        fed = ids.detach().to("cpu", torch.int64, copy=True)
        best = None if before is None or before.rows.next is not None else before.best()
        goes_on = before is not None and before.rows.extended(fed, forward.named)
        if goes_on:
            before.columns += 1
            if before.rows.grown and best is not None and best.shape[0] == fed.shape[0]:
                before.greedy = before.greedy and bool((best == fed[:, -1]).all())
        else:
            self.let_go(held)
            self.finish(model.index)
            orphan = before is not None and before.rows.next is not None and before.draws > 1 and fed.shape[1] == 1
            if orphan or (model.index in self.lost and fed.shape[1] == 1):
                self.lose(model.index)
                return False
            self.lost.discard(model.index)
            mask, _ = _arguments.mask_of(forward.named, ids.shape)
            before = self.loops[model.index] = Loop(session=self.session, model=model, ids=fed, mask=None if mask is None else mask.cpu())
        self.local.loop = before
        before.last = before.all = None
        if logits is not None:
            z = logits.detach()
            z = z.reshape(ids.shape[0], -1, z.shape[-1]) if z.ndim == 2 and z.shape[0] != ids.shape[0] else z
            z = z[:, None] if z.ndim == 2 else z
            before.last = z[:, -1].clone()
            before.all = z if z.shape[1] > 1 and z.numel() <= MOST_HELD else None
        if forward.grad:
            return False
        # Of a loop that goes on it is no scoring, most likely: then nothing is computed of it.
        forward.ids = forward.ids.clone()
        later = goes_on and logits is not None and logits.numel() <= MOST_HELD and version(logits) is not None
        self.held = (forward, logits, place, version(logits), None) if later else (forward, None, place, None, kept(forward.told(logits, place)))
        return True

    def let_go(self, held):
        """The call that waited was no part of a loop."""
        if held is None:
            return
        forward, logits, place, before, fields = held
        if fields is None:
            # What was done to the logits in place is not what the model said.
            fields = forward.told(logits if before == version(logits) else None, place)
        forward.put(fields)

    def lose(self, model):
        self.lost.add(model)
        self.session.blind(
            "own-sampler",
            "A loop of the script samples, and rows leave its batch or change places in a way that cannot be followed: what "
            "was sampled there is unknown.",
        )

    # Draws

    def drew(self, p, picks, rows):
        """torch.multinomial, or the like: p (B, K) and picks (B,) or of one row several."""
        loop = self.loop_of()
        if loop is None or loop.rows.next is not None or capturing(p):
            return
        fit = fitted(loop.last, p, picks)
        if (fit is None or fit.moved) and loop.all is not None:
            fit = self.elsewhere(loop, p, picks) or fit
        if fit is None or fit.tokens.shape[0] != rows:
            return
        loop.rows.draw(fit.tokens.detach().to("cpu", torch.int64))
        if loop.rows.next is None:
            return
        loop.random, loop.draws = True, loop.draws + 1
        if loop.last is not None:
            loop.settings.add(fit, loop.last.shape[-1])
            if loop.draws == 1 and fit.off is not None and fit.off.shape[0] == loop.rows.ids.shape[0]:
                loop.settings.prompt_moved = of_prompt(fit.off, loop.rows.ids)
        self.held = None

    def elsewhere(self, loop, p, picks):
        """Rows are padded at the right: the logits are those before the padding."""
        ids, z = loop.rows.ids, loop.all
        if ids.shape[1] != z.shape[1] or ids.shape[0] != p.shape[0]:
            return None
        last = ids[:, -1:]
        ends = ids.shape[1] - (ids == last).flip(1).long().cumprod(1).sum(1)
        for at in (ends - 1, *(torch.full_like(ends, column) for column in range(ids.shape[1] - 2, -1, -1))):
            rows = torch.arange(ids.shape[0])
            fit = fitted(z[rows, at.clamp(min=0)], p, picks)
            if fit is not None and fit.temperature is not None and not fit.moved:
                return fit
        return None

    def chose(self, scores, result):
        """argmax: of the logits, or of what noise was added to, which `noise` undoes."""
        loop = self.loop_of()
        if loop is None or loop.rows.next is not None or loop.last is None or capturing(scores):
            return
        rows, vocab = loop.last.shape
        if scores.ndim not in (2, 3) or scores.shape[-1] != vocab or scores.shape[0] != rows:
            return
        # Of all columns, the last: whether that is a draw, and no measure of accuracy, is known once it is fed.
        sure = scores.ndim == 2 or scores.shape[1] == 1
        scores = scores.reshape(rows, -1, vocab)[:, -1]
        picks = result.reshape(rows, -1)[:, -1]
        noisy = not bool((picks == loop.last.argmax(-1)).all())
        loop.rows.draw(picks.detach().to("cpu", torch.int64))
        if loop.rows.next is None:
            return
        loop.draws += 1
        loop.greedy = loop.greedy and not noisy
        fit = None
        noise = getattr(self.local, "noise", None)
        if noise is not None and noise.numel() == scores.numel():
            noise = noise.reshape(scores.shape).double()
            s = scores.detach().double()
            ways = (s * noise, torch.softmax(s + noise.log(), -1), torch.softmax(s + (-noise.log()).log(), -1))
            fits = [fitted(loop.last, p, picks) for p in ways if bool(torch.isfinite(p).all()) and bool((p >= 0).all())]
            fits = [each for each in fits if each is not None and each.temperature is not None]
            fit = min(fits, key=lambda each: each.moved, default=None)
        self.local.noise = None
        if fit is not None:
            loop.random = True
            loop.settings.add(fit, vocab)
        elif noisy:
            loop.random = True
            loop.settings.unfit += 1
        if fit is not None or (sure and loop.draws > 1):
            self.held = None

    def noise(self, values):
        loop = self.loop_of()
        if loop is not None and loop.last is not None and values.numel() == loop.last.numel():
            self.local.noise = values.detach().clone()

    def misjudged(self):
        """A fault of the tracer's as it looked at a draw."""
        loop = self.loop_of()
        if loop is not None:
            self.distrust(loop.model.index)

    def loop_of(self):
        """The loop that this thread's latest call was of."""
        loop = getattr(self.local, "loop", None)
        return loop if loop is not None and self.session.generating == 0 and loop in self.loops.values() else None

    # Its end

    def finish(self, model=None):
        """Loops that nothing goes on with any more: of this model, or all."""
        if model is None:
            self.let_go(self.held)
            self.held = None
        for index in [index for index in self.loops if model is None or index == model]:
            loop = self.loops.pop(index)
            with self.session.guard("decoding"):
                # Of one call and its likeliest tokens nothing says that they were meant as samples.
                if loop.columns >= (LEAST_GROWN if loop.draws == 0 else 0 if loop.random else 1):
                    sequences = _sequences.of(loop)
                    if sequences is not None:
                        self.record(loop, sequences)


def install(session):
    def record(loop, sequences):
        settings = loop.settings
        random = loop.random or not loop.greedy
        session.write(
            "generate",
            generate=session.next_generation(),
            model=loop.model.index,
            step=loop.step,
            time=loop.time,
            source="loop",
            do_sample=random,
            temperature=settings.temperature() if random else None,
            settings=settings.others() if random else {},
            **sequences,
        )

    def put():
        wrappers()

    session.decoding = Decoding(session, record, put)
    wrappers = _draws.install(session, session.decoding)


def kept(fields):
    """What waits is not to change with what the script does to its tensors."""
    return {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in fields.items()}


def capturing(tensor):
    """What runs is written down for a CUDA graph: nothing can be read now."""
    return tensor.is_cuda and torch.cuda.is_current_stream_capturing()


def version(logits):
    try:
        return logits._version
    except (RuntimeError, AttributeError):
        # Made in inference mode: nobody counts what is done to it.
        return None

