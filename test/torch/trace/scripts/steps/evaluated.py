"""A supervised loop with an evaluation after each step. `--way` is how the model drops out in training, and whether it still does there."""

import argparse

import few
import nets
import tiny
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

RIGHT = ["eval", "gated", "gated-attention", "no-dropout", "tried-out", "scored-in-each", "checkpointed"]
WRONG = ["labelled", "bare", "function", "attention", "part"]
parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--way", required=True, choices=RIGHT + WRONG)
options = parser.parse_args()
way = options.way
P = 0.0 if way == "no-dropout" else 0.2


class Dropping(nets.GPT):
    """Drops by the functions, in training or, forgetting to ask, always."""

    def forward(self, ids, attention_mask=None, labels=None):
        x = self.wte(ids) + self.wpe(torch.arange(ids.size(1))[None])
        visible = nets.visible_to(ids, attention_mask)
        for block in self.blocks:
            x = block(x, visible)
            if "attention" in way:
                x = x + F.scaled_dot_product_attention(x, x, x, is_causal=True, dropout_p=P if way == "attention" or self.training else 0.0)
            else:
                x = F.dropout(x, P, training=way == "function" or self.training)
        return self.lm_head(self.norm(x))


by_hand = way in ("gated", "gated-attention", "function", "attention")
torch.manual_seed(0)
model = Dropping(len(few.tokenizer)) if by_hand else tiny.absolute(len(few.tokenizer), dropout=P)
model.train()
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
*training, held_out = few.batches(options.data, 1)


def logits_of(ids, mask, labels=None):
    out = model(ids, attention_mask=mask) if labels is None else model(ids, attention_mask=mask, labels=labels)
    return out if by_hand else out.logits


def evaluate():
    ids, mask, labels = held_out
    if way not in ("labelled", "bare", "no-dropout"):
        model.eval()
    if way == "part":
        model.transformer.h[0].mlp.dropout.train()
    with torch.no_grad():
        given = None if by_hand or way in ("bare", "eval") else labels
        print("held out", float(few.total(logits_of(ids, mask, given), labels)))
    model.train()


if way == "tried-out":
    with torch.no_grad():
        logits_of(*training[0][:2])
for step in range(3):
    ids, mask, labels = training[step % len(training)]
    if way == "scored-in-each":  # A loss that needs another row beside each, without its gradient.
        with torch.no_grad():
            logits_of(*training[(step + 1) % len(training)][:2])
    if way == "checkpointed":
        wanted = torch.zeros(1, requires_grad=True)
        logits = checkpoint(lambda ids, mask, _: logits_of(ids, mask), ids, mask, wanted, use_reentrant=True)
    else:
        logits = logits_of(ids, mask)
    (few.total(logits, labels) / few.count([(ids, mask, labels)])).backward()
    optimiser.step()
    optimiser.zero_grad()
    if way != "scored-in-each":
        evaluate()
    print("step", step)
