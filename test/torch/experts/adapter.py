"""Op balance_loss by transformers' own function, of the model that MODEL names. FAULTY is one mistake around it."""

import importlib
import os

import torch

import lossproof

MODEL = os.environ.get("MODEL", "mixtral")
FAULTY = os.environ.get("FAULTY", "")
COEF = 0.02

module = importlib.import_module("transformers.models.%s.modeling_%s" % (MODEL, MODEL))


@lossproof.op(micro_batches=True)
def balance_loss(router_logits, attention_mask, experts, top_k, micro_batches):
    logits = torch.tensor(router_logits).requires_grad_()
    mask = torch.tensor(attention_mask)
    if FAULTY == "micro-batches":
        loss = torch.stack([of_rows(logits[rows], mask[rows], experts, top_k) for rows in micro_batches]).mean()
    else:
        loss = of_rows(logits, mask, experts, top_k)
    return {"loss": loss.item(), "router_weights": torch.autograd.grad(loss, logits)[0]}


def of_rows(logits, mask, experts, top_k):
    gates = logits.flatten(0, 1).unflatten(-1, (-1, experts)).unbind(1)
    if FAULTY == "last layer":
        gates = gates[-1:]
    if FAULTY == "softmax over tokens":
        gates = tuple(gate.softmax(0).log() for gate in gates)
    return COEF * module.load_balancing_loss_func(
        gates,
        experts,
        1 if FAULTY == "one choice" else top_k,
        None if FAULTY == "padding" else mask,
    )


if __name__ == "__main__":
    declared = {} if os.environ.get("DECLARED") != "1" else {
        "balance_coef": COEF,
        "balance_counts": "token",
        "balance_scores": "softmax",
        "balance_layers": "together",
        "balance_scope": "batch",
    }
    lossproof.serve(name="experts", dtype="float32", semantics=declared)
