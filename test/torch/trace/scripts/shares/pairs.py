"""Direct preference optimisation by hand, chosen and rejected answers in one batch. `--fault` plants one mistake."""

import argparse

import tiny
import torch
import torch.nn.functional as F

FAULTS = ["swapped", "flipped", "one-sided", "averaged", "mispaired", "alias"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--fault", choices=FAULTS)
options = parser.parse_args()

BETA = 0.1
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


data = tiny.rows(options.data)
for step in range(2):
    ids, mask, trained = batch_of(data[step * 2 : step * 2 + 2])
    gain = scores(model, ids, mask, trained)
    with torch.no_grad():
        before = scores(reference, ids, mask, trained)
    chosen, rejected = (gain - before).chunk(2)
    if options.fault == "one-sided":
        rejected = rejected.detach()
    if options.fault == "mispaired":
        rejected = rejected.flip(0)
    loss = -F.logsigmoid(BETA * (chosen - rejected)).mean()
    if options.fault == "flipped":
        loss = -loss
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step, "loss", float(loss))
