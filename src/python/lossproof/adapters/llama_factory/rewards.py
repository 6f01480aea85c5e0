"""Reward models: ops reward_loss and reward_model, by PairwiseTrainer."""

import lossproof
from lossproof.adapters.common._tiny import tiny_model
from lossproof.adapters.llama_factory._model import rewarding, tokenizer
from lossproof.adapters.llama_factory.pairs import paired

import torch
from trl import AutoModelForCausalLMWithValueHead

torch.manual_seed(0)
trainer = rewarding(AutoModelForCausalLMWithValueHead.from_pretrained(tiny_model(len(tokenizer)), v_head_init_strategy="normal"))


@lossproof.op
def reward_model(prompt_ids, completion_ids):
    """A model with a value head, as load_model makes it. Each row is both sides of a pair."""
    batch = trainer.data_collator(paired(prompt_ids, completion_ids, completion_ids))
    trainer.model.eval()
    with torch.no_grad():
        _, (_, scores, _) = trainer.compute_loss(trainer.model, dict(batch), return_outputs=True)
    return {"scores": scores.reshape(-1)}


@lossproof.op
def reward_loss(chosen_scores, rejected_scores):
    scores = torch.tensor([*chosen_scores, *rejected_scores], requires_grad=True)
    count = len(chosen_scores)
    loss = loss_of(scores)
    loss.backward()
    alone = [loss_of(scores.detach()[[row, count + row]]).item() for row in range(count)]
    chosen_weights, rejected_weights = scores.grad.chunk(2)
    return {"loss": loss.detach(), "losses": alone, "chosen_weights": chosen_weights, "rejected_weights": rejected_weights}


def loss_of(scores):
    """Of rows of one token each, of which a model has said this."""
    ids = torch.zeros(len(scores), 1, dtype=torch.long)
    batch = {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids}
    return trainer.compute_loss(lambda **_: (None, None, scores[:, None]), batch)
