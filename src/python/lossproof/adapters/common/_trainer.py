"""One optimiser step of a trainer that derives from transformers' Trainer, on logits that are given."""

import inspect

import torch

from ...testing import replaced
from ._head import logits_given, weights_of


def items_of(trainer, batches):
    """The trained tokens of an optimiser step, as Trainer.train() counts them before it."""
    method = trainer.get_batch_samples
    device = [torch.device("cpu")] if "device" in inspect.signature(method).parameters else []
    return method(iter(batches), len(batches), *device)[1]


def accumulated(trainer, input_ids, attention_mask, labels, logits, micro_batches):
    """training_step, backward included, on every micro-batch: (loss, dL/dlogprob of each token, the tokens that Trainer counts)."""
    whole = {"input_ids": input_ids, "attention_mask": attention_mask, "labels": labels}
    whole = {name: torch.tensor(rows) for name, rows in whole.items()}
    parts = [part for part in micro_batches if part]
    batches = [{name: rows[part] for name, rows in whole.items()} for part in parts]
    count = items_of(trainer, batches)

    def step(leaf):
        total = 0.0
        steps = replaced(trainer.args, gradient_accumulation_steps=len(parts))
        with steps, replaced(trainer, current_gradient_accumulation_steps=len(parts)):
            for part, batch in zip(parts, batches):
                with logits_given(trainer.model, leaf[part]):
                    total += trainer.training_step(trainer.model, dict(batch), count).item()
        return total

    return *weights_of(step, torch.tensor(logits), whole["input_ids"], whole["labels"]), count
