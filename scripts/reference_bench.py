"""Torch's side of the row kernel's bench: reads little-endian float32 logits from files, and prints its times.

    python scripts/reference_bench.py POLICY REFERENCE ROWS VOCAB TEMPERATURE ROUNDS DEVICE OUT
One JSON line: {"float32": ms, "float64": ms, "copy": ms}, medians; the float64 numbers go to OUT, (4, ROWS) float64.
"""

import json
import statistics
import sys
import time

import torch

policy_file, reference_file, rows, vocab, temperature, rounds, device, out = sys.argv[1:]
rows, vocab, rounds = int(rows), int(vocab), int(rounds)
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
    times = []
    for _ in range(rounds + 1):
        if device != "cpu":
            torch.cuda.synchronize()
        begun = time.perf_counter()
        work()
        if device != "cpu":
            torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - begun))
    # The first round finds the memory.
    return statistics.median(times[1:])


p, r = load(policy_file), load(reference_file)
copy = torch.empty_like(p)
answer = {
    "float32": timed(lambda: numbers(p, r)),
    "copy": timed(lambda: copy.copy_(p)),
    "threads": torch.get_num_threads(),
    "torch": torch.__version__,
}
single = numbers(p, r).double()
p, r = p.double(), r.double()
answer["float64"] = timed(lambda: numbers(p, r))
exact = numbers(p, r)
answer["errors"] = (single - exact).abs().amax(1).tolist()
exact.cpu().numpy().tofile(out)
print(json.dumps(answer))
