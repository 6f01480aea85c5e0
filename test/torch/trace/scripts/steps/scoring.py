"""Policy steps with old log-probabilities from a pass without gradients, over a model with dropout."""

import argparse
import copy

import few
import tiny
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--reference", action="store_true")
parser.add_argument("--fault", default="", choices=["", "old", "reference", "eval", "left-eval"])
options = parser.parse_args()
fault = options.fault

model = tiny.absolute(len(few.tokenizer), dropout=0.2)
model.train()
reference = copy.deepcopy(model)
if fault != "reference":
    reference.eval()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)


def logprobs(model, ids, mask):
    logits = model(ids, attention_mask=mask).logits[:, :-1]
    return torch.log_softmax(logits, -1).gather(-1, ids[:, 1:, None]).squeeze(-1)


if fault == "eval":
    model.eval()
for step, (ids, mask, labels) in enumerate(few.batches(options.data) * 2):
    if fault not in ("old", "eval"):
        model.eval()
    with torch.no_grad():
        old = logprobs(model, ids, mask)
        anchor = logprobs(reference, ids, mask) if options.reference or fault == "reference" else old
    if fault != "eval" and not (fault == "left-eval" and step > 0):
        model.train()
    new = logprobs(model, ids, mask)
    where = (labels[:, 1:] != few.IGNORE).float()
    ratio = (new - old).exp()
    kl = (anchor - new).exp() - (anchor - new) - 1
    loss = ((-ratio + 0.05 * kl) * where).sum() / where.sum()
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()
    print("step", step)
