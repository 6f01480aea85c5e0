"""Torch's side of the row kernel's bench: reads little-endian float32 logits from files, then the names of what is to be
done, a line each ("float32", "float64", "copy"), and answers with milliseconds, so that all contestants take turns.

    python scripts/bench/reference_torch.py POLICY REFERENCE ROWS VOCAB TEMPERATURE DEVICE OUT
Its first line is JSON: {"threads", "torch", "errors"}; the float64 numbers go to OUT, (4, ROWS) float64.
"""

import json
import sys
import time

import torch

policy_file, reference_file, rows, vocab, temperature, device, out = sys.argv[1:]
rows, vocab = int(rows), int(vocab)
temperature = float(temperature)


def load(path):
    return torch.frombuffer(bytearray(open(path, "rb").read()), dtype=torch.float32).view(rows, vocab).to(device)


targets = ((torch.arange(rows) * 7) % vocab).to(device)


def numbers(p, r):
    """log_softmax, gather, entropy and KL, as trainers write them."""
    logp = torch.log_softmax(p / temperature, dim=-1)
    logr = torch.log_softmax(r / temperature, dim=-1)
    probabilities = logp.exp()
    pick = targets[:, None]
    return torch.stack(
        [
            logp.gather(1, pick)[:, 0],
            logr.gather(1, pick)[:, 0],
            -(probabilities * logp).sum(-1),
            (probabilities * (logp - logr)).sum(-1),
        ]
    )


def timed(work):
    if device != "cpu":
        torch.cuda.synchronize()
    begun = time.perf_counter()
    work()
    if device != "cpu":
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - begun)


p, r = load(policy_file), load(reference_file)
P, R = p.double(), r.double()
copy = torch.empty_like(p)
exact = numbers(P, R)
exact.cpu().numpy().tofile(out)
errors = (numbers(p, r).double() - exact).abs().amax(1).tolist()
print(json.dumps({"threads": torch.get_num_threads(), "torch": torch.__version__, "errors": errors}), flush=True)
works = {"float32": lambda: numbers(p, r), "float64": lambda: numbers(P, R), "copy": lambda: copy.copy_(p)}
for line in sys.stdin:
    print(timed(works[line.strip()]), flush=True)
