"""Direct preference optimisation by hand, chosen and rejected answers in one batch. `--fault` plants one mistake."""

import argparse

import tiny
import torch
import torch.nn.functional as F

FAULTS = ["swapped", "flipped", "one-sided", "averaged", "mispaired", "alias", "turned", "rolled", "mean", "free"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--fault", choices=FAULTS)
parser.add_argument("--pairs", type=int, default=2, help="of a step")
parser.add_argument("--smoothing", type=float, default=0.0)
parser.add_argument("--beta", type=float, default=0.1)
options = parser.parse_args()

tokenizer = tiny.family("qwen")
model, reference = tiny.rotary(len(tokenizer)), tiny.rotary(len(tokenizer), seed=7)
reference.eval().requires_grad_(False)
if options.fault == "alias":
    reference = model
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)


def encoded(prompt, answer):
    front = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    back = tokenizer(answer + "<|im_end|>", add_special_tokens=False)["input_ids"]
    return front + back, [0] * len(front) + [1] * len(back)


def batch_of(rows):
    """The chosen answers first, then the rejected ones."""
    names = ["rejected", "chosen"] if options.fault == "swapped" else ["chosen", "rejected"]
    examples = [encoded(row["prompt"], row[name]) for name in names for row in rows]
    width = max(len(ids) for ids, _ in examples)
    ids = torch.full((len(examples), width), tokenizer.pad_token_id)
    trained, mask = torch.zeros_like(ids), torch.zeros_like(ids)
    for at, (row, own) in enumerate(examples):
        ids[at, : len(row)], trained[at, : len(row)], mask[at, : len(row)] = torch.tensor(row), torch.tensor(own), 1
    return ids, mask, trained


def scores(policy, ids, mask, trained):
    """Log-probability of each row's answer, (2N,)."""
    logp = policy(input_ids=ids, attention_mask=mask).logits[:, :-1].log_softmax(-1)
    logp = logp.gather(2, ids[:, 1:, None]).squeeze(-1) * trained[:, 1:]
    return logp.sum(-1) / trained[:, 1:].sum(-1) if options.fault == "averaged" else logp.sum(-1)


data = tiny.rows(options.data) * 2
for step in range(2):
    ids, mask, trained = batch_of(data[step * options.pairs :][: options.pairs])
    gain = scores(model, ids, mask, trained)
    with torch.no_grad():
        before = scores(reference, ids, mask, trained)
    if options.fault == "turned":
        before = before.roll(len(before) // 2)
    if options.fault == "rolled":
        before = torch.cat([half.roll(1) for half in before.chunk(2)])
    if options.fault == "mean":
        before = before / trained[:, 1:].sum(-1)
    if options.fault == "free":
        before = torch.zeros_like(before)
    chosen, rejected = (gain - before).chunk(2)
    if options.fault == "one-sided":
        rejected = rejected.detach()
    if options.fault == "mispaired":
        rejected = rejected.flip(0)
    margin = options.beta * (chosen - rejected)
    loss = -(1 - options.smoothing) * F.logsigmoid(margin).mean() - options.smoothing * F.logsigmoid(-margin).mean()
    if options.fault == "flipped":
        loss = -loss
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
