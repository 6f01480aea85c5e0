"""Torch's side of the row kernel's bench: reads little-endian float32 logits from files, then the names of what is to be
done, a line each ("float32", "compiled", "float64", "copy"), and answers with milliseconds, so that all contestants take turns.

    python scripts/bench/reference_torch.py POLICY REFERENCE ROWS VOCAB TEMPERATURE DEVICE OUT compile|eager
Its first line is JSON: {"about", "errors", "compiled"}, the last with why torch.compile cannot be measured, or null; the float64 numbers go to OUT, (4, ROWS) float64.
"""

import json
import sys
import time

import torch

#: Goes over logits on a GPU, to time one.
GPU_PASSES = 20
policy_file, reference_file, rows, vocab, temperature, device, out, compile_too = sys.argv[1:]
rows, vocab = int(rows), int(vocab)
temperature = float(temperature)


def load(path):
    return torch.frombuffer(bytearray(open(path, "rb").read()), dtype=torch.float32).view(rows, vocab).to(device)


if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
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
    """Milliseconds of one go; on a GPU the mean of some, which are sent one behind the other, as the shader's are."""
    passes = 1 if device == "cpu" else GPU_PASSES
    if device != "cpu":
        torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(passes):
        work()
    if device != "cpu":
        torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - begun) / passes


def compiled_error():
    """Compiles, which takes long and needs a compiler; None where it worked."""
    try:
        compiled(p, r)
    except Exception as error:
        return str(error).strip().splitlines()[0][:200]


p, r = load(policy_file), load(reference_file)
P, R = p.double(), r.double()
copy = torch.empty_like(p)
exact = numbers(P, R)
exact.cpu().numpy().tofile(out)
errors = (numbers(p, r).double() - exact).abs().amax(1).tolist()
compiled = torch.compile(numbers)
where = torch.cuda.get_device_name() if device != "cpu" else f"{torch.get_num_threads()} threads"
hello = {"about": f"torch {torch.__version__}, {where}", "errors": errors}
print(json.dumps({**hello, "compiled": compiled_error() if compile_too == "compile" else "not asked for"}), flush=True)
works = {
    "float32": lambda: numbers(p, r),
    "compiled": lambda: compiled(p, r),
    "float64": lambda: numbers(P, R),
    "copy": lambda: copy.copy_(p),
}
for line in sys.stdin:
    print(timed(works[line.strip()]), flush=True)
