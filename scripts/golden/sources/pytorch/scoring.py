"""Scoring in torch float64: log-softmax, entropy, KL over the vocabulary, cross entropy with its gradient, halves."""

import torch
from torch.distributions import Categorical, kl_divergence
from torch.nn.functional import cross_entropy

from sources.entries import entry
from sources.pytorch.inputs import Draw, tensor, wire

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def softmax(id, logits, temperature=1.0):
    z = tensor(logits) / temperature
    answer = {
        "log_sum_exp": torch.logsumexp(z, -1),
        "log_softmax": torch.log_softmax(z, -1),
        "entropy": Categorical(logits=z).entropy(),
    }
    how = "torch.log_softmax, torch.logsumexp and torch.distributions.Categorical.entropy, of logits / temperature"
    return entry(id, "torch, float64", how, "log-softmax", {"logits": logits, "temperature": temperature}, wire(answer))


def logprobs(id, draw, temperature, dtype=None):
    rows, columns, vocabulary = 2, 5, 7
    logits = [draw.matrix(columns, vocabulary, -6, 6) for _ in range(rows)]
    ids = [[draw.integer(0, vocabulary - 1) for _ in range(columns)] for _ in range(rows)]
    z = tensor(logits) if dtype is None else tensor(logits).to(DTYPES[dtype])
    scored = torch.log_softmax(z[:, :-1] / temperature, -1).gather(-1, torch.tensor(ids)[:, 1:, None]).squeeze(-1)
    answer = [["NaN", *row] for row in wire(scored.double())]
    input = {"logits": logits, "ids": ids, "temperature": temperature}
    how = f"torch.log_softmax in {dtype or 'float64'} and gather, laid on the tokens; nothing predicts the first"
    more = {} if dtype is None else {"dtype": dtype}
    return entry(id, f"torch, {dtype or 'float64'}", how, "logprobs", input, {"logprobs": answer}, **more)


def full_kl(id, policy, reference, temperature):
    a, b = tensor(policy) / temperature, tensor(reference) / temperature
    answer = {"kl": kl_divergence(Categorical(logits=a), Categorical(logits=b)), "entropy": Categorical(logits=a).entropy()}
    input = {"policy": policy, "reference": reference, "temperature": temperature}
    how = "torch.distributions.kl_divergence of two Categoricals"
    return entry(id, "torch, float64", how, "full-kl", input, wire(answer))


def sft(id, draw, labels):
    vocabulary = 6
    logits = [draw.matrix(len(row), vocabulary, -4, 4) for row in labels]
    targets = torch.tensor(labels)[:, 1:]
    z = tensor(logits)
    logps = torch.log_softmax(z[:, :-1], -1).gather(-1, targets.clamp(min=0)[..., None]).squeeze(-1).requires_grad_()
    tokens = int((targets != -100).sum())
    torch.where(targets != -100, -logps, 0.0).sum().div(max(tokens, 1)).backward()
    loss = cross_entropy(z[:, :-1].flatten(0, 1), targets.flatten()) if tokens else torch.tensor(0.0)
    weights = torch.cat([torch.zeros(len(labels), 1), logps.grad], 1)
    answer = {"loss": loss, "weights": weights, "tokens": tokens}
    how = "cross_entropy of shifted logits; weights are the gradient by the log-probabilities of the labels"
    return entry(id, "torch, float64, autograd", how, "sft-loss", {"logits": logits, "labels": labels}, wire(answer))


def half(id, dtype, bits):
    values = torch.tensor([b - 2**16 if b >= 2**15 else b for b in bits], dtype=torch.int16).view(DTYPES[dtype])
    how = "the bits seen as that type by Tensor.view, then as float64"
    return entry(id, f"torch, {dtype}", how, "half", {"dtype": dtype, "bits": bits}, {"values": wire(values.double())})


def entries():
    draw = Draw(1)
    bits = [0, 0x8000, 1, 0x03FF, 0x0400, 0x3C00, 0x3F80, 0x4049, 0x7BFF, 0x7C00, 0x7C01, 0x7F7F, 0x7F80, 0x7FC0, 0xBF80, 0xFF80]
    return [
        *[softmax(f"softmax-{k}", draw.matrix(3, 7, -9, 9), t) for k, t in enumerate([1.0, 0.5, 1.7])],
        softmax("softmax-far", [[1000.0, 999.5, -1000.0], [-3000.0, -3001.0, -3000.5]]),
        *[logprobs(f"logprobs-{t}", draw, t) for t in (1.0, 0.6, 2.0)],
        *[logprobs(f"logprobs-in-{dtype}", draw, 1.0, dtype) for dtype in DTYPES],
        *[full_kl(f"full-kl-{k}", draw.matrix(4, 9, -5, 5), draw.matrix(4, 9, -5, 5), t) for k, t in enumerate([1.0, 0.7])],
        full_kl("full-kl-equal", [[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]], 1.0),
        sft("sft", draw, [[-100, -100, 3, 5, 1], [2, 0, -100, 4, -100]]),
        sft("sft-first-label-counts-not", draw, [[2, 1, 0]]),
        sft("sft-one-row-untrained", draw, [[-100, 4, 4], [-100, -100, -100]]),
        sft("sft-nothing-trained", draw, [[-100, -100], [3, -100]]),
        half("bits-of-bfloat16", "bfloat16", bits),
        half("bits-of-float16", "float16", bits),
    ]
