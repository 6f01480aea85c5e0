"""The tracer's hooks with records kept in memory, and what the cases of forward.test.ts share: random weights on the next
token, and a comparison of what was recorded with them.

Each case trains random weights (some zero, some negative) on the next token, unless it says otherwise; `target` counts the
positions whose target differs, `weight` is the largest relative error of a weight, `position` counts positions that are
listed wrongly. Import this before transformers, as the tracer's own import hooks would.
"""

import json
import sys
import tempfile

import torch

from lossproof_trace.forward import _install
from lossproof_trace.recording import _session

V, B, T = 101, 3, 9
CASES = {}


class Memory(_session.Session):
    """Keeps its records in memory."""

    def __init__(self, mode="auto"):
        super().__init__(tempfile.gettempdir(), mode)
        self.records = []

    def write(self, kind, **fields):
        if kind == "model":
            self.vocabularies[fields["model"]] = fields["vocab_size"]
        self.records.append(dict(fields, kind=kind))

    def of(self, kind):
        return [record for record in self.records if record["kind"] == kind]


SESSION = Memory()
_session.use(SESSION)
_install.install(SESSION)


def case(function):
    CASES[function.__name__.replace("_", " ")] = function
    return function


def batch():
    ids = torch.randint(0, V, (B, T))
    weights = torch.randn(B, T - 1)
    weights[torch.rand(B, T - 1) < 0.4] = 0.0
    return ids, weights


def loss_of(logits, targets, weights, temperature=1.0):
    logp = torch.log_softmax(logits.float() / temperature, -1).gather(-1, targets[..., None])[..., 0]
    return -(weights * logp).sum()


def compare(record, weights, targets, start=0):
    """weights and targets (B, n): of the columns from `start` on."""
    listed = {(int(r), int(c)): i for i, (r, c) in enumerate(zip(record["rows"], record["columns"]))}
    wanted = {(r, c + start) for r, c in weights.nonzero().tolist()}
    out = {"position": len(wanted ^ set(listed)), "target": 0, "weight": 0.0, "residual": 0.0, "n": len(wanted)}
    largest = float(weights.abs().max())
    for place in wanted & set(listed):
        r, c = place[0], place[1] - start
        i = listed[place]
        out["target"] += int(record["targets"][i]) != int(targets[r, c])
        error = abs(float(record["weights"][i]) - float(weights[r, c])) / max(abs(float(weights[r, c])), 1e-3 * largest)
        out["weight"] = max(out["weight"], error if error == error else 1e9)
        out["residual"] = max(out["residual"], float(record["residuals"][i]))
    out["route"], out["dtype"] = record["route"], record["dtype"]
    out["temperatures"] = sorted({round(float(t), 4) for t in record["temperatures"] if t == t})
    return out


def plain(model, call=None, temperature=1.0):
    ids, weights = batch()
    logits = (call or (lambda m, i: m(i).logits))(model, ids)
    loss_of(logits[:, :-1], ids[:, 1:], weights, temperature).backward()
    (record,) = SESSION.of("trained")
    out = compare(record, weights, ids[:, 1:])
    out["ids"] = bool((SESSION.of("forward")[-1]["input_ids"] == ids).all())
    return out


def run():
    """Prints a JSON line a case; those that are named, or all."""
    wanted = sys.argv[1:]
    for name, function in CASES.items():
        if wanted and name not in wanted:
            continue
        torch.manual_seed(7)
        SESSION.records.clear()
        SESSION._told.clear()
        try:
            out = function()
        except Exception as error:  # noqa: BLE001 - the test shows it
            import traceback

            out = {"error": "".join(traceback.format_exception(type(error), error, error.__traceback__))}
        troubles = [record["traceback"] for record in SESSION.of("trouble")]
        print(json.dumps({"case": name, "out": out, "troubles": troubles}), flush=True)
