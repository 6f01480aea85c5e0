"""Models that predict no token: a reward model on pairs, by transformers or by hand, a critic, a classifier, a regressor."""

import argparse
import copy

import few
import tiny
import torch
import torch.nn.functional as F
import transformers
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--kind", default="pairs", choices=["pairs", "together", "hand", "margin", "critic", "classes", "regression", "loss"])
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--schedule", action="store_true")
parser.add_argument("--clip", action="store_true")
parser.add_argument("--dropout", action="store_true")
parser.add_argument("--fault", default="")
options = parser.parse_args()
kind, fault = options.kind, options.fault
torch.manual_seed(0)
size = len(few.tokenizer)


class Scorer(nn.Module):
    """A body with a head of its own, read at the last token of each row, or at every token."""

    def __init__(self, body, every=False):
        super().__init__()
        self.body, self.every = body, every
        self.v_head = nn.Linear(32, 1)

    def forward(self, tokens, attention_mask):
        hidden = self.body(tokens, attention_mask=attention_mask).last_hidden_state
        if fault == "detached":
            hidden = hidden.detach()
        scores = self.v_head(hidden).squeeze(-1)
        return scores if self.every else scores.gather(1, attention_mask.sum(1, keepdim=True) - 1).squeeze(1)


class Pairs(nn.Module):
    """The loss of pairs, as some write it: inside of the model."""

    def __init__(self, scorer):
        super().__init__()
        self.scorer = scorer

    def forward(self, chosen_ids, rejected_ids):
        chosen, rejected = (self.scorer(ids, torch.ones_like(ids)) for ids in (chosen_ids, rejected_ids))
        return -F.logsigmoid(chosen - rejected).mean()


def body():
    return transformers.LlamaModel(llama())


def llama(**more):
    sizes = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2)
    return transformers.LlamaConfig(vocab_size=size, pad_token_id=few.tokenizer.pad_token_id, **sizes, **more)


def gpt():
    drop = 0.2 if options.dropout else 0.0
    return transformers.GPT2Config(
        vocab_size=size, n_embd=32, n_layer=2, n_head=4, num_labels=1, pad_token_id=few.tokenizer.pad_token_id,
        resid_pdrop=drop, embd_pdrop=drop, attn_pdrop=drop,
    )


model = {
    "pairs": lambda: transformers.LlamaForSequenceClassification(llama(num_labels=1)),
    "together": lambda: transformers.GPT2ForSequenceClassification(gpt()),
    "hand": lambda: Scorer(body()),
    "margin": lambda: Scorer(body()),
    "critic": lambda: Scorer(body(), every=True),
    "classes": lambda: transformers.LlamaForSequenceClassification(llama(num_labels=3)),
    "regression": lambda: transformers.LlamaForSequenceClassification(llama(num_labels=1, problem_type="regression")),
    "loss": lambda: Pairs(Scorer(body())),
}[kind]()
model.train()
held = list(model.parameters())
if fault == "no-head":
    held = [p for name, p in model.named_parameters() if "score" not in name and "v_head" not in name]
optimiser = torch.optim.AdamW(held, lr=1e-3)
if fault == "copied":
    model = copy.deepcopy(model)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=1e-3, total_steps=50) if options.schedule else None


def scores(ids, mask):
    result = model(ids, attention_mask=mask)
    return result if isinstance(result, torch.Tensor) else result.logits[:, 0]


def loss_of(ids, mask, labels):
    # Another answer to the same prompt.
    worse = torch.where(labels >= 0, (ids + 7) % size, ids)
    if kind == "loss":
        return model(ids, worse)
    if kind == "classes":
        return model(ids, attention_mask=mask, labels=mask.sum(1) % 3).loss
    if kind == "regression":
        return F.mse_loss(scores(ids, mask), mask.sum(1).float() / 10)
    if kind == "critic":
        values = model(ids, mask)
        return (0.5 * (values - torch.linspace(0, 1, ids.shape[1])) ** 2 * mask).sum() / mask.sum()
    if kind == "together":
        chosen, rejected = scores(torch.cat([ids, worse]), torch.cat([mask, mask])).chunk(2)
    else:
        chosen, rejected = scores(ids, mask), scores(worse, mask)
    if kind == "margin":
        return F.relu(1.0 - (chosen - rejected)).mean() + 0.01 * ((chosen + rejected) ** 2).mean()
    return -F.logsigmoid(chosen - rejected).mean()


data = few.batches(options.data)
k = options.accumulate
for epoch in range(3):
    for at in range(0, len(data), k):
        micro = data[at : at + k]
        for batch in micro:
            (loss_of(*batch) / len(micro)).backward()
        if fault == "zeroed":
            optimiser.zero_grad()
        if options.clip and fault != "clip-behind":
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if options.clip and fault == "clip-behind":
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if scheduler is not None and fault != "never-stepped":
            scheduler.step()
        if fault != "not-zeroed":
            optimiser.zero_grad()
        print("step", at)
