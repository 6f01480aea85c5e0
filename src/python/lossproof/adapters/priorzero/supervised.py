"""The supervised loss with the micro-batches and the scale of the released configuration: of given logits, and of a checkpoint."""

import lossproof
from lossproof.adapters.common._head import weights_of
from lossproof.adapters.common._models import frozen, stepped
from lossproof.adapters.priorzero._learn import learned
from lossproof.adapters.priorzero._model import codec, tokens
from lossproof.testing import Table

import torch


class Given(Table):
    """Whatever rows it is called with, the next ones of these answer, with their own labels."""

    def __init__(self, logits, ids, real, labels):
        super().__init__(lambda *_: self.taken(logits))
        self.columns, self.at, self.rows_asked = (ids, real, labels), 0, 0

    def taken(self, logits):
        return logits[self.at - self.rows_asked : self.at]

    def forward(self, input_ids=None, **_):
        self.rows_asked = len(input_ids)
        self.at += self.rows_asked
        ids, real, labels = (self.taken(column) for column in self.columns)
        return super().forward(input_ids=ids, attention_mask=real, labels=labels)


@lossproof.op
def sft_loss(input_ids, attention_mask, labels, logits):
    """The lines around the model's own loss; labels and rows are those of the request."""
    ids, real, targets = (torch.tensor(rows) for rows in (input_ids, attention_mask, labels))

    def step(leaf):
        # What the trainer makes rows of is of no account, but their number.
        rows = [""] * len(ids)
        return learned(Given(leaf, ids, real, targets), codec, rows, rows, "sft")["llm_sft_loss"]

    total, weights = weights_of(step, torch.tensor(logits), ids, targets)
    return {"loss": total, "loss_weights": weights, "trained_tokens": int((targets[:, 1:] != -100).sum())}


class Descent:
    """Plain gradient descent, into a folder."""

    def __init__(self, model, learning_rate, folder):
        self.model, self.folder = model, folder
        self.param_groups = [{"lr": learning_rate}]

    def zero_grad(self):
        self.model.zero_grad()

    def step(self):
        stepped(self.model, self.param_groups[0]["lr"], self.folder)


# Its rows are padded on the left and its models told no positions: those with learned ones are not its own.
@lossproof.op(route=["sft"], families=["llama"])
def train_step(model_path, prompt_ids, completion_ids, learning_rate, saved_path):
    """_forward_learn with the model of this checkpoint; its optimizer descends, and nothing is clipped."""
    if any(ids[-1:] != tokens["eos_token_ids"] for ids in completion_ids):
        raise lossproof.Reject("the trainer puts a stop after each target itself")
    model = frozen(model_path).requires_grad_(True)
    prompts = [codec.decode(ids) for ids in prompt_ids]
    completions = [codec.decode(ids[:-1]) for ids in completion_ids]
    try:
        log = learned(model, codec, prompts, completions, "sft", Descent(model, learning_rate, saved_path))
    finally:
        model.requires_grad_(False)
    return {"loss": log["llm_sft_loss"]}
