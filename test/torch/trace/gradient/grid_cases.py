"""One loss outside of the model over a grid of scripts that all train the same: inputs cut before the model or logits behind it,
targets handed to the model or not, next tokens or ids that stand nowhere in the inputs, small and large vocabularies, modes,
flat and peaked heads, heads that are a module or a bare product, and heads of which no more is kept than a few entries.
A JSON line a case, read by grid.test.ts. Needs torch alone."""

import itertools

import torch
from torch import nn

from lossproof_trace.forward import _values
from watching import SESSION, case, run

B, T, WIDTH, STEPS = 2, 8, 8, 2
VOCABULARIES = {"small": 300, "32k": 32_000, "152k": 152_000}
# Logits lie apart by about so much: nearly even, and so that one token has nearly all of it.
HEADS = {"flat": 0.05, "peaked": 8.0}
AXES = {
    "inputs": ("cut before", "cut behind"),
    "targets": ("handed over", "kept apart", "of another text"),
    "vocabulary": tuple(VOCABULARIES),
    "mode": ("cheap", "exact", "auto"),
    "head": tuple(HEADS),
    "product": ("module", "bare", "bare, nothing whole"),
}
WHOLE = _values.MOST_WHOLE


class Net(nn.Module):
    """`targets` are taken, as many models take them, and the loss is the script's all the same."""

    def __init__(self, vocab, apart, bare):
        super().__init__()
        self.table = nn.Embedding(vocab, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.apart = apart / WIDTH**0.5
        self.head = None if bare else nn.Linear(WIDTH, vocab, bias=False)
        if not bare:
            nn.init.normal_(self.head.weight, std=self.apart)

    def forward(self, ids, targets=None):
        # No module gives what the head is called with.
        h = torch.tanh(self.norm(self.table(ids))) * 1.5
        return h @ (self.table.weight.t() * self.apart) if self.head is None else self.head(h)


def cell(inputs, targets, vocabulary, mode, head, product):
    vocab = VOCABULARIES[vocabulary]
    SESSION.mode, _values.MOST_WHOLE = mode, 0 if "nothing" in product else WHOLE
    model = Net(vocab, HEADS[head], product != "module")
    optimiser = torch.optim.SGD(model.parameters(), lr=1e-3)
    out = {"position": 0, "target": 0, "weight": 0.0, "open": 0, "n": 0, "terms": []}
    for _ in range(STEPS):
        SESSION.records.clear()
        ids = torch.randint(0, vocab, (B, T))
        wanted = torch.randint(0, vocab, (B, T)) if targets == "of another text" else ids
        weights = torch.randn(B, T - 1)
        weights = weights.sign() * weights.abs().clamp(min=0.1)
        weights[0, 2] = weights[1, 0] = 0.0
        given = ids[:, :-1] if inputs == "cut before" else ids
        logits = model(given, wanted[:, 1:] if inputs == "cut before" else wanted) if targets == "handed over" else model(given)
        logp = logits[:, : T - 1].log_softmax(-1).gather(-1, wanted[:, 1:, None])[..., 0]
        optimiser.zero_grad()
        (-(weights * logp).sum()).backward()
        optimiser.step()
        told(out, weights, wanted[:, 1:])
    return out


def told(out, weights, targets):
    """Of a weight that is told, its relative error; `open`: it is not. No target and no position may be another one."""
    (record,) = SESSION.of("trained")
    listed = {(int(r), int(c)): i for i, (r, c) in enumerate(zip(record["rows"], record["columns"]))}
    wanted = {tuple(place) for place in weights.nonzero().tolist()}
    out["position"] += len(wanted ^ set(listed))
    out["n"] += len(wanted)
    out["terms"] += [term["kind"] for term in record.get("terms", [])]
    for place in wanted & set(listed):
        target, weight = int(record["targets"][listed[place]]), float(record["weights"][listed[place]])
        out["target"] += target not in (int(targets[place]), -1)
        if target < 0 or weight != weight:
            out["open"] += 1
        else:
            out["weight"] = max(out["weight"], abs(weight / float(weights[place]) - 1))


for values in itertools.product(*AXES.values()):
    named = lambda values=values: cell(*values)
    named.__name__ = ", ".join(values)
    case(named)

if __name__ == "__main__":
    run()
