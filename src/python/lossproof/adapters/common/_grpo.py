"""A GRPOTrainer of any TRL, ready to be asked."""

from ._models import initial  # first of these: it says what is missing where there is no torch
from ._trl import configured, rows_of

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer


def build(tokenizer, stops=None, model=None, **config):
    """The trainer in training mode.

    model: the folder of a checkpoint; None is the adapter's own tiny model.
    stops: ids at which the sampler stops, if not the tokenizer's eos alone; TRL takes them as generation_kwargs.
    config: further fields of GRPOConfig, where this version has them."""
    made = trainer_of(GRPOTrainer, GRPOConfig, tokenizer, stops, model, **config)
    return made


def trainer_of(trainer, configuration, tokenizer, stops=None, model=None, **config):
    """The same of RLOOTrainer, which is built alike. With a reference, TRL reloads it from the model's folder, which
    may go once both are loaded."""
    with initial(tokenizer, model) as folder:
        made = trainer(
            model=folder,
            args=configured(
                configuration, generation_kwargs=None if stops is None else {"eos_token_id": stops}, **config
            ),
            # The reward that a row of the dataset carries.
            reward_funcs=lambda prompts, reward, **_: reward,
            train_dataset=Dataset.from_list([{"prompt": "x", "reward": 0.0}]),
            processing_class=tokenizer,
        )
    return rows_of(made)


def scored_rows(mask, advantages):
    """What a batch of either has whatever is scored of it; the ids mean nothing where scores are given."""
    ids = torch.zeros(mask.shape, dtype=torch.long)
    return {
        "prompt_ids": ids[:, :1],
        "prompt_mask": torch.ones_like(ids[:, :1]),
        "completion_ids": ids,
        "completion_mask": mask,
        "advantages": advantages,
    }
