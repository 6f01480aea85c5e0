"""Models written by hand under the tracer's hooks; a JSON line a case, read by forward.test.ts. Needs torch alone."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import lossproof_trace
from lossproof_trace.recording import _session
from lossproof_trace.steps import _optimiser
from watching import SESSION, B, T, V, batch, case, compare, loss_of, plain, run


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.mix = nn.LayerNorm(16), nn.Linear(16, 16)

    def forward(self, x):
        return x + self.mix(self.norm(x).cumsum(1))


class Hand(nn.Module):
    """Written by hand: learned positions, loss or logits, head of its own or the embedding's weight."""

    def __init__(self, head="own", returns="logits"):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(V, 16), nn.Embedding(32, 16)
        self.blocks = nn.Sequential(Block(), Block())
        self.ln_f = nn.LayerNorm(16)
        self.lm_head = nn.Linear(16, V, bias=False) if head != "functional" else None
        if head == "tied":
            self.lm_head.weight = self.wte.weight
        self.returns = returns

    def forward(self, idx, targets=None):
        h = self.ln_f(self.blocks(self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))))
        logits = self.lm_head(h) if self.lm_head is not None else F.linear(h, self.wte.weight)
        if targets is None:
            return {"logits": logits, "tuple": (logits, None), "dict": {"out": logits}, "flat": logits.reshape(-1, V)}.get(
                self.returns.replace("logits_", ""), logits
            )
        loss = F.cross_entropy(logits.view(-1, V), targets.reshape(-1), ignore_index=-1)
        return (logits, loss) if self.returns == "both" else loss


class Around(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.policy = model

    def forward(self, tokens):
        return self.policy(tokens)


@case
def hand_written():
    out = {}
    for head in ("own", "tied", "functional"):
        for returns, take in (
            ("logits", lambda r: r),
            ("tuple", lambda r: r[0]),
            ("dict", lambda r: r["out"]),
            ("flat", lambda r: r.view(B, T, V)),
        ):
            SESSION.records.clear()
            out["%s, %s" % (head, returns)] = plain(Hand(head, returns), lambda m, i, take=take: take(m(i)))
    return out


@case
def hand_written_around():
    out = plain(Around(Hand()), lambda m, i: m(tokens=i))
    return dict(out, models=[record["class"] for record in SESSION.of("model")])


@case
def hand_written_loss():
    out = {}
    for head, returns in (("own", "both"), ("own", "loss"), ("functional", "loss")):
        SESSION.records.clear()
        model = Hand(head, returns)
        ids, _ = batch()
        result = model(ids[:, :-1].contiguous(), ids[:, 1:].contiguous())
        (result[1] if returns == "both" else result).backward()
        weights = torch.full((B, T - 1), 1 / (B * (T - 1)))
        out["%s, %s" % (head, returns)] = compare(SESSION.of("trained")[0], weights, ids[:, 1:])
    return out


class Halves(Hand):
    """Its head is in two parts, neither of which has a row for each token of the vocabulary."""

    def __init__(self):
        super().__init__("functional", "loss")
        self.low, self.high = (nn.Parameter(torch.randn(n, 16)) for n in (V // 2, V - V // 2))

    def forward(self, idx, targets):
        h = self.ln_f(self.blocks(self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))))
        return F.cross_entropy(F.linear(h, torch.cat([self.low, self.high])).view(-1, V), targets.reshape(-1))


@case
def hand_written_loss_without_a_head():
    model = Halves()
    ids, _ = batch()
    model(ids[:, :-1].contiguous(), ids[:, 1:].contiguous()).backward()
    return {"blind": [record["what"] for record in SESSION.of("blind")], "trained": len(SESSION.of("trained"))}


def chosen_and_rejected(model, call):
    """Two calls of a model, one backward pass."""
    (a, u), (b, w) = batch(), batch()
    loss = loss_of(call(model, a)[:, :-1], a[:, 1:], u) + loss_of(call(model, b)[:, :-1], b[:, 1:], w)
    loss.backward()
    trained = {record["forward"]: record for record in SESSION.of("trained")}
    forwards = [record["forward"] for record in SESSION.of("forward") if record["grad"]]
    return dict(zip(("first", "second"), (compare(trained[f], x, i[:, 1:]) for f, x, i in zip(forwards, (u, w), (a, b))))), len(forwards)


@case
def called_twice_before_the_backward_pass():
    out, forwards = chosen_and_rejected(Hand(), lambda m, i: m(i))
    return dict(out, forwards=forwards)


def whole(reentrant):
    handle = torch.zeros((), requires_grad=True)

    def call(model, ids):
        return checkpoint(lambda i, _: model(i), ids, handle, use_reentrant=reentrant)

    out, forwards = chosen_and_rejected(Hand(), call)
    return dict(out, forwards=forwards)


@case
def the_whole_model_in_a_checkpoint():
    return whole(False)


@case
def the_whole_model_in_a_reentrant_checkpoint():
    out, losses = {}, Hand()
    handle = torch.zeros((), requires_grad=True)
    ids, weights = batch()
    # The same batch in each of two steps: the call inside of the backward pass is the one that is trained.
    for name in ("first", "second"):
        SESSION.records.clear()
        logits = checkpoint(lambda i, _: losses(i), ids, handle, use_reentrant=True)
        loss_of(logits[:, :-1], ids[:, 1:], weights).backward()
        out[name] = compare(SESSION.of("trained")[0], weights, ids[:, 1:])
    return dict(out, forwards=sum(record["grad"] for record in SESSION.of("forward")))


@case
def a_graph_that_is_walked_twice():
    model = Hand()
    ids, weights = batch()
    loss = loss_of(model(ids)[:, :-1], ids[:, 1:], weights)
    loss.backward(retain_graph=True)
    loss.backward()
    first, second = SESSION.of("trained")
    return {"first": compare(first, weights, ids[:, 1:]), "second": compare(second, weights, ids[:, 1:])}


@case
def a_gradient_scaler():
    _optimiser.install(SESSION, torch)
    model = Hand()
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    ids, weights = batch()
    scaler.scale(loss_of(model(ids)[:, :-1], ids[:, 1:], weights)).backward()
    SESSION.set_grad_scale(None)
    return compare(SESSION.of("trained")[0], weights, ids[:, 1:])


@case
def half_precision():
    out = {}
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        SESSION.records.clear()
        out[str(dtype)] = plain(Hand().to(dtype), lambda m, i: m(i))
    return out


@case
def compiled():
    out = {}
    for backend in ("eager", "aot_eager"):
        for returns in ("logits", "loss"):
            SESSION.records.clear()
            SESSION._told.clear()
            torch._dynamo.reset()
            ids, weights = batch()
            run = torch.compile(Hand("own", returns), backend=backend)
            if returns == "loss":
                run(ids[:, :-1].contiguous(), ids[:, 1:].contiguous()).backward()
                weights = torch.full((B, T - 1), 1 / (B * (T - 1)))
            else:
                loss_of(run(ids)[:, :-1], ids[:, 1:], weights).backward()
            trained = SESSION.of("trained")
            one = compare(trained[0], weights, ids[:, 1:]) if trained else {}
            out["%s, %s" % (backend, returns)] = dict(one, blind=[record["what"] for record in SESSION.of("blind")])
    return out


@case
def data_parallel():
    """Without a GPU it only carries its module; the copies that it makes for several are said not to be seen."""
    out = plain(nn.DataParallel(Hand()), lambda m, i: m(i))
    copy = Hand()
    copy._is_replica = True
    copy(batch()[0]).sum().backward()
    return dict(out, blind=[record["what"] for record in SESSION.of("blind")], forwards=len(SESSION.of("forward")))


class Unembed(nn.Module):
    def __init__(self):
        super().__init__()
        self.columns = nn.Parameter(torch.randn(16, V))

    def forward(self, x):
        return x @ self.columns


class Odd(nn.Module):
    """Nothing of it is found by itself: no nn.Embedding, a head of its own kind, two arguments that may be ids."""

    def __init__(self, returns):
        super().__init__()
        self.table = nn.Parameter(torch.randn(V, 16))
        self.mix = nn.Linear(16, 16)
        self.unembed = Unembed()
        self.returns = returns

    def forward(self, kinds, words, aims=None):
        h = torch.tanh(self.mix(self.table[words].cumsum(1)))
        logits = self.unembed(h)
        return logits if self.returns == "logits" else F.cross_entropy(logits.flatten(0, 1), aims.flatten())


@case
def watched():
    out = {}
    for ids_is in ("words", 1):
        for named in (True, False):
            SESSION.records.clear()
            model = Odd("logits")
            same = lossproof_trace.watch(model, head=model.unembed if named else None, ids=ids_is) is model
            out["%s, %s" % (ids_is, named)] = dict(plain(model, lambda m, i: m(torch.zeros_like(i), i)), same=same)
    SESSION.records.clear()
    model = lossproof_trace.watch(Odd("loss"), ids="words")
    lossproof_trace.watch(model, head=model.unembed, ids="words")
    ids, _ = batch()
    model(torch.zeros_like(ids[:, 1:]), ids[:, :-1], ids[:, 1:]).backward()
    weights = torch.full((B, T - 1), 1 / (B * (T - 1)))
    out["its loss"] = compare(SESSION.of("trained")[0], weights, ids[:, 1:])
    return out


class Further(Hand):
    """The head is called once more: with other hidden states for the token after the next, or with the same ones."""

    def __init__(self, head, seen):
        super().__init__(head)
        self.seen = seen
        self.further = nn.Linear(16, 16)

    def forward(self, idx):
        h = self.ln_f(self.blocks(self.wte(idx) + self.wpe(torch.arange(idx.shape[1]))))
        first = None if self.seen == "last" else self.lm_head(h)
        second = self.lm_head(h if self.seen == "same" else self.further(h) + self.wte(idx.roll(-1, 1)))
        first = self.lm_head(h) if first is None else first
        return {"dict": {"logits": first, "further": second}}.get(self.seen, (first, second))


@case
def a_head_for_further_tokens():
    out = {}
    for head in ("own", "tied"):
        for seen in ("tuple", "dict", "last", "same"):
            SESSION.records.clear()
            ids, weights = batch()
            result = Further(head, seen)(ids)
            first, second = result.values() if seen == "dict" else result
            ahead = 1 if seen == "same" else 2
            others = loss_of(second[:, :-ahead], ids[:, ahead:], 0.3 * weights[:, ahead - 1 :])
            (loss_of(first[:, :-1], ids[:, 1:], weights) + others).backward()
            (record,) = SESSION.of("trained")
            if seen == "same":
                counts = record["targets"].shape[0], int(weights.count_nonzero())
                out[head + ", same"] = {"listed": counts[0], "wanted": 2 * counts[1], "sum": float(record["weights"].sum() / weights.sum())}
            else:
                out["%s, %s" % (head, seen)] = compare(record, weights, ids[:, 1:])
    return out


@case
def watch_without_a_trace():
    _session.use(None)
    try:
        model = Odd("logits")
        return {"same": lossproof_trace.watch(model, head=model.unembed) is model}
    finally:
        _session.use(SESSION)


if __name__ == "__main__":
    run()
