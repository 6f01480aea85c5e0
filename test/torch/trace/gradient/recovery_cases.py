"""The recovery functions next to autograd, in four dtypes; a JSON line a case, read by recovery.test.ts."""

import json
import resource

import torch

from lossproof_trace.gradient._hidden import SKETCH, from_hidden
from lossproof_trace.gradient._logits import entries_of, from_logits
from lossproof_trace.gradient._recovery import RESIDUAL, Post
from lossproof_trace.gradient._several import Teacher

N, D = 40, 24


def losses(h, w, b, targets, weights, tau, post):
    z = h @ w.t() if b is None else h @ w.t() + b
    logp = torch.log_softmax(post.value(z.float() if z.dtype in (torch.bfloat16, torch.float16) else z) / tau, -1)
    logp = logp.gather(-1, targets[:, None])[:, 0]
    return z, -(weights * logp).sum(), logp.detach()


def example(dtype, vocab, spread, bias=False):
    h = torch.randn(N, D).to(dtype).requires_grad_()
    w = (torch.randn(vocab, D) * spread).to(dtype)
    b = torch.randn(vocab).to(dtype) if bias else None
    ids = torch.randint(0, vocab, (N + 2,))
    candidates = torch.stack([ids[1:-1], ids[:-2], ids[2:]], 1)
    kind = torch.randint(0, 4, (N,))
    targets = torch.where(kind < 3, candidates.gather(1, kind.clamp(max=2)[:, None])[:, 0], torch.randint(0, vocab, (N,)))
    weights = torch.randn(N).double()
    weights = weights.sign() * weights.abs().clamp(min=0.1) * (torch.rand(N) < 0.8)
    return h, w, b, candidates, targets, weights


def errors(found, targets, weights, logp, dtype):
    wanted = weights.nonzero().flatten()
    assert found.at.tolist() == wanted.tolist(), (found.at, wanted)
    relative = ((found.weights - weights[wanted]) / weights[wanted]).abs()
    return {
        "target": int((found.targets != targets[wanted]).sum()),
        "weight": float(relative.max()),
        "residual": float(found.residuals.max()),
        "logprob": float((found.logprobs - logp[wanted].double()).abs().max()),
        "temperatures": sorted({round(float(t), 3) for t in found.temperatures if t == t}),
        "band": RESIDUAL[str(dtype).replace("torch.", "")],
    }


def both(dtype, vocab=61, spread=0.3, tau=1.0, post=None, bias=False, few=None):
    post = post or Post()
    h, w, b, candidates, targets, weights = example(dtype, vocab, spread, bias)
    name = str(dtype).replace("torch.", "")
    z, loss, logp = losses(h, w, b, targets, weights, tau, post)
    gz, gh = torch.autograd.grad(loss, [z, h])
    z = z.detach()
    entries = entries_of(vocab, few or 4096)
    z_of = lambda at, ids: z[at, ids]
    logits = from_logits(gz, entries, z[:, entries], candidates, z.gather(1, candidates), name, post, z_of)
    hidden = from_hidden(gh, h.detach(), w, b, candidates, name, post)
    return {
        "logits": errors(logits, targets, weights, logp, dtype),
        "hidden": errors(hidden, targets, weights, logp, dtype),
    }


def large(vocab=150_000, rows=96, width=64):
    """The peak of memory that the recovery takes, next to what its inputs take."""
    h = torch.randn(rows, width)
    w = torch.randn(vocab, width)
    ids = torch.randint(0, vocab, (rows,))
    chunk = torch.zeros_like(h)
    for begin in range(0, rows, 8):
        part = h[begin : begin + 8].clone().requires_grad_()
        torch.log_softmax(part @ w.t(), -1).gather(-1, ids[begin : begin + 8, None]).sum().neg().backward()
        chunk[begin : begin + 8] = part.grad
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = from_hidden(chunk.repeat(40, 1), h.repeat(40, 1), w, None, ids[:, None].repeat(40, 1), "float32")
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    return {"grown": grown, "weight": float((found.weights - 1).abs().max()), "n": found.at.numel()}


def none(at):
    """Of the trained positions, none is compared in all directions: what is seen is the sketch."""
    return at[:0]


def sketched(dtype=torch.float32, vocab=500, spread=0.1, tau=1.0, post=None, few=None):
    """The cheap mode: hidden states wider than a sketch, targets among the candidates and elsewhere."""
    h = torch.randn(N, 3 * SKETCH).to(dtype).requires_grad_()
    w = (torch.randn(vocab, 3 * SKETCH) * spread).to(dtype)
    _, _, _, candidates, targets, weights = example(dtype, vocab, spread)
    _, loss, logp = losses(h, w, None, targets, weights, tau, post or Post())
    (gradient,) = torch.autograd.grad(loss, h)
    name = str(dtype).replace("torch.", "")
    found = from_hidden(gradient, h.detach(), w, None, candidates, name, post or Post(), none, few)
    if few is None:
        return errors(found, targets, weights, logp, dtype)
    elsewhere = ~(candidates == targets[:, None]).any(1)[found.at]
    right = found.targets == targets[found.at]
    return {
        "candidates": bool(right[~elsewhere].all()),
        "searched": bool(right[elsewhere][:few].all()),
        "rest": sorted(set(found.targets[elsewhere][few:].tolist())),
        "measured": int((~found.weights[elsewhere][few:].isnan()).sum()),
        "n": int(elsewhere.sum()),
    }


def twins(near, dtype=torch.float32, check=None):
    """Two ids with (nearly) one row, as newly added ones have: candidates both, and only one of them trained."""
    h = torch.randn(N, 3 * SKETCH).to(dtype).requires_grad_()
    w = torch.randn(500, 3 * SKETCH)
    w[7] = w[8] + near * torch.randn(3 * SKETCH)
    w = w.to(dtype)
    one, other = torch.full((N,), 7), torch.randint(10, 500, (N,))
    candidates = torch.stack([one, torch.full((N,), 8), other], 1)
    targets = torch.where(torch.arange(N) % 2 == 0, 8, other)
    _, loss, _ = losses(h, w, None, targets, torch.ones(N).double(), 1.0, Post())
    (gradient,) = torch.autograd.grad(loss, h)
    found = from_hidden(gradient, h.detach(), w, None, candidates, str(dtype).replace("torch.", ""), Post(), check)
    return [sorted(set(found.targets[::2].tolist())), bool((found.targets[1::2] == other[1::2]).all())]


def two_targets():
    h, w, _, candidates, targets, weights = example(torch.float32, 61, 0.3)
    z = h @ w.t()
    logp = torch.log_softmax(z, -1)
    (-(logp.mean(-1) + 9 * logp.gather(-1, targets[:, None])[:, 0]).sum() / 10).backward(retain_graph=True)
    gz = torch.autograd.grad(-(logp.mean(-1) + 9 * logp.gather(-1, targets[:, None])[:, 0]).sum() / 10, z)[0]
    entries = entries_of(61, 4096)
    z = z.detach()
    found = from_logits(gz, entries, z, candidates, z.gather(1, candidates), "float32", Post(), lambda at, ids: z[at, ids])
    hidden = from_hidden(h.grad, h.detach(), w, None, candidates, "float32")
    return {
        "logits": float(found.residuals.median()),
        "hidden": float(hidden.residuals.nanmedian()),
        "target": int((found.targets != targets).sum()),
        "sum": float(found.weights.sum()),
        "epsilons": [of.terms[0]["epsilon"] for of in (found, hidden)],
    }


def form(loss, dtype=torch.float32, vocab=300, share=1.0, teach=False):
    """Single targets of the weight 1, and what `loss`(z, logp of the target, another model's z) makes of it."""
    z = (3 * torch.randn(N, vocab)).to(dtype).requires_grad_()
    other, targets = 2 * torch.randn(N, vocab), torch.randint(0, vocab, (N,))
    wide = z.float()
    each = loss(wide, targets, other)
    (gradient,) = torch.autograd.grad(each.sum(), z)
    z, entries = z.detach(), entries_of(vocab, 4096)
    candidates = torch.stack([targets, torch.randint(0, vocab, (N,))], 1)
    teachers = [Teacher(1, entries, other, candidates, other.gather(1, candidates))] if teach else []
    found = from_logits(
        gradient, entries, z, candidates, z.gather(1, candidates), str(dtype)[6:], Post(), lambda at, i: z[at, i], None, teachers
    )
    known = found.targets >= 0
    return {
        "target": int((found.targets != targets)[known].sum()),
        "named": int(known.sum()),
        "open": int(found.weights.isnan().sum()),
        "weight": float((found.weights - share).abs().nan_to_num(0).max()),
        "band": 2e-2 if dtype == torch.bfloat16 else 1e-5,
    }


def of_target(z, targets, smoothing=0.0):
    return torch.nn.functional.cross_entropy(z, targets, reduction="none", label_smoothing=smoothing)


def toward(z, other, tau=2.0):
    p, q = (z / tau).log_softmax(-1), (other / tau).softmax(-1)
    return torch.nn.functional.kl_div(p, q, reduction="none").sum(-1) * tau**2


def negative_entropy(z):
    return (z.log_softmax(-1).exp() * z.log_softmax(-1)).sum(-1)


def broken():
    h, w, _, candidates, targets, weights = example(torch.float32, 61, 0.3)
    z, loss, _ = losses(h, w, None, targets, torch.ones(N).double(), 1.0, Post())
    gz, gh = torch.autograd.grad(loss, [z, h])
    gz[3, 5], gz[7, 0], gh[3, 2], gh[7, 1] = float("nan"), float("inf"), float("nan"), float("-inf")
    entries = entries_of(61, 4096)
    z = z.detach()
    logits = from_logits(gz, entries, z, candidates, z.gather(1, candidates), "float32", Post(), lambda at, i: z[at, i])
    hidden = from_hidden(gh, h.detach(), w, None, candidates, "float32")
    return [[found.not_finite, found.at.numel()] for found in (logits, hidden)]


def confident():
    """Probability 1 - 1e-6 on the next token, while another is trained: the signs of the others tell which."""
    z = torch.zeros(2, 9)
    z[:, 4] = 15.0
    z.requires_grad_()
    logp = torch.log_softmax(z, -1)
    gz = torch.autograd.grad(-logp[0, 6] + 2 * logp[1, 4], z)[0]
    z = z.detach()
    candidates = torch.tensor([[4, 1], [4, 1]])
    found = from_logits(gz, torch.arange(9), z, candidates, z.gather(1, candidates), "float32")
    return {"targets": found.targets.tolist(), "weights": found.weights.tolist()}


def columns(loss, route="logits", dtype=torch.float32, vocab=3000, spread=0.05, only_last=False, kept=True, rows=4, wide=6):
    """Rows of which the last column's target is no candidate, and `only_last` alone is trained; `kept`: its logit can be had.
    What is told, over both routes alike: terms, and of weights the share that is known, and the largest error of these."""
    ids = torch.randint(0, vocab, (rows, wide + 1))
    following = ids[:, 1:].clone()
    candidates = torch.stack([following, ids[:, :-1]], -1)
    candidates[:, -1, 0] = -1
    candidates, targets = candidates.reshape(rows * wide, 2), following.flatten()
    weights = torch.full((rows, wide), 0.01)
    weights[:, -1] = 1.0
    weights = (weights * (torch.arange(wide) == wide - 1) if only_last else weights).flatten()
    h = torch.randn(rows * wide, D).to(dtype).requires_grad_()
    w = (torch.randn(vocab, D) * spread / D**0.5).to(dtype)
    z = h @ w.t()
    gz, gh = torch.autograd.grad((loss(z.float(), targets) * weights).sum(), [z, h])
    z, entries, name = z.detach(), entries_of(vocab, 64), str(dtype)[6:]
    if route == "hidden":
        found = from_hidden(gh, h.detach(), w, None, candidates, name, width=wide)
    else:
        z_of = (lambda at, i: z[at, i]) if kept else None
        values = z[:, entries], candidates, z.gather(1, candidates.clamp(min=0))
        found = from_logits(gz, entries, *values, name, Post(), z_of, width=wide)
    truth = weights[found.at].double()
    known = found.weights.isfinite()
    return {
        "terms": [term["kind"] for term in found.terms],
        "target": int(((found.targets != targets[found.at]) & (found.targets >= 0)).sum()),
        "known": round(float(known.double().mean()), 3),
        "weight": float(((found.weights - truth) / truth)[known].abs().max()) if bool(known.any()) else 0.0,
        "unread": found.unread,
    }


def smooth(z, y):
    return of_target(z, y, 0.1)


def bonus(z, y):
    return of_target(z, y) + 0.05 * negative_entropy(z)


def capped(z, y):
    return of_target(7 * torch.tanh(z / 7), y)


# Of each: the loss, and what differs from `columns`.
COLUMNS = {
    "the last target was not kept": (of_target, {"kept": False}),
    "the last target was not kept, bfloat16": (of_target, {"kept": False, "dtype": torch.bfloat16}),
    "the last target was not kept, peaked": (of_target, {"kept": False, "spread": 4.0}),
    "the last target was not kept, alone": (of_target, {"kept": False, "only_last": True}),
    "not kept beside smoothing": (smooth, {"kept": False, "spread": 4.0}),
    "not kept beside entropy": (bonus, {"kept": False, "spread": 4.0}),
    "one column with smoothing": (smooth, {"only_last": True, "spread": 4.0}),
    "one column with entropy": (bonus, {"only_last": True, "spread": 4.0}),
    "one column with a softcap": (capped, {"only_last": True, "spread": 4.0}),
    "even with smoothing": (smooth, {}),
    "even with entropy": (bonus, {}),
    "even with smoothing, bfloat16": (smooth, {"dtype": torch.bfloat16}),
    "hidden, the last target is no candidate": (of_target, {"route": "hidden"}),
    "hidden, the last target is no candidate, alone": (of_target, {"route": "hidden", "only_last": True}),
    "hidden, smoothing": (smooth, {"route": "hidden", "spread": 4.0}),
    "hidden, entropy": (bonus, {"route": "hidden", "spread": 4.0}),
    "hidden, one column with entropy": (bonus, {"route": "hidden", "only_last": True, "spread": 4.0}),
    "hidden, one column with a softcap": (capped, {"route": "hidden", "only_last": True, "spread": 4.0}),
}

CASES = {
    **{"columns: " + name: lambda loss=loss, differs=differs: columns(loss, **differs) for name, (loss, differs) in COLUMNS.items()},
    "large": large,
    "float64": lambda: both(torch.float64),
    "float32": lambda: both(torch.float32),
    "float32 with a bias": lambda: both(torch.float32, bias=True),
    "float32 at temperature 0.7": lambda: both(torch.float32, tau=0.7),
    "float32 at temperature 3": lambda: both(torch.float32, tau=3.0),
    "float32 with a softcap": lambda: both(torch.float32, post=Post(1.0, 3.0)),
    "float32 with a scale": lambda: both(torch.float32, post=Post(0.25)),
    "float32, nearly flat": lambda: both(torch.float32, spread=0.01),
    "float32, few entries": lambda: both(torch.float32, vocab=2000, few=64),
    "bfloat16": lambda: both(torch.bfloat16),
    "float16": lambda: both(torch.float16),
    "sketch, float64": lambda: sketched(torch.float64),
    "sketch, float32": sketched,
    "sketch, bfloat16": lambda: sketched(torch.bfloat16),
    "sketch, float16": lambda: sketched(torch.float16),
    "sketch, large and flat": lambda: sketched(vocab=150_000, spread=1e-3),
    "sketch, large and peaked": lambda: sketched(vocab=150_000, spread=0.4),
    "sketch, with a softcap": lambda: sketched(post=Post(1.0, 3.0)),
    "sketch, at temperature 0.7": lambda: sketched(tau=0.7),
    "search": lambda: sketched(few=3),
    "twins": lambda: {
        "%s, %s" % (name, mode): twins(near, dtype, check)
        for name, near, dtype in (("equal", 0.0, torch.float32), ("near", 1e-3, torch.bfloat16), ("apart", 1e-3, torch.float32))
        for mode, check in (("exact", None), ("cheap", none))
    },
    "two targets": two_targets,
    "form: softcap": lambda: form(lambda z, y, t: of_target(7 * torch.tanh(z / 7), y)),
    "form: entropy": lambda: form(lambda z, y, t: of_target(z, y) + 0.01 * negative_entropy(z)),
    "form: teacher": lambda: form(lambda z, y, t: 0.3 * of_target(z, y) + 0.7 * toward(z, t), share=0.3, teach=True),
    "form: smoothing in bfloat16": lambda: form(lambda z, y, t: of_target(z, y, 0.1), torch.bfloat16),
    "form: unknown": lambda: form(lambda z, y, t: 0.3 * of_target(z, y) + 0.7 * toward(z, t)),
    "broken": broken,
    "confident": confident,
}

if __name__ == "__main__":
    for name, function in CASES.items():
        torch.manual_seed(5)
        try:
            out = function()
        except Exception as error:  # noqa: BLE001 - the test shows it
            import traceback

            out = {"error": "".join(traceback.format_exception(type(error), error, error.__traceback__))}
        print(json.dumps({"case": name, "out": out}), flush=True)
