"""A supervised loop that evaluates rows before and after its first step. `--way`: which rows, and for what."""

import argparse

import few
import tiny
import torch

RIGHT = ["apart", "scored", "short", "some", "checkpointed"]
WRONG = ["same", "subset", "shuffled"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--way", required=True, choices=RIGHT + WRONG)
options = parser.parse_args()
way = options.way

model = tiny.rotary(len(few.tokenizer))
model.train()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
rows = [few.encoded(row) for row in tiny.rows(options.data)]
if way == "short":  # Equal by chance.
    rows = [(ids[-3:], labels[-3:]) for ids, labels in rows]
training, others = rows[:2], rows[2:]
held_out = {
    "apart": others,
    "scored": training,
    "short": training,
    "some": [*others, training[0]],
    "checkpointed": others,
    "same": training,
    "subset": training[:1],
    "shuffled": [training[1], training[0]],
}[way]


def evaluate():
    model.eval()
    with torch.no_grad():
        ids, mask, labels = few.batch(held_out)
        # What is compared with later needs no labels.
        out = model(ids, attention_mask=mask) if way == "scored" else model(ids, attention_mask=mask, labels=labels)
        print("held out", float(few.total(out.logits, labels)))
    model.train()


if way == "checkpointed":
    model.gradient_checkpointing_enable()
evaluate()
for step in range(2):
    one = few.batch([training[step]])
    ids, mask, labels = one
    (few.total(model(ids, attention_mask=mask).logits, labels) / few.count([one])).backward()
    optimiser.step()
    optimiser.zero_grad()
    evaluate()
    print("step", step)
