"""A GRPOTrainer that is ready to be asked, and the one thing that two adapters ask it: its prompts."""

import os
import tempfile

from ... import Reject
from ._tiny import tiny_model  # first of these: it says what is missing where there is no torch
from ._standin import rendering

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer


def build(tokenizer, beta=0.0, stops=None, model=None, **config):
    """The trainer in training mode. Where beta is not 0, TRL reloads its reference model from a folder; that folder,
    and the output folder, may go once both models are loaded.

    model: the folder of a checkpoint; None is the adapter's own tiny model.
    stops: ids at which the sampler stops, if not the tokenizer's eos alone; TRL takes them as generation_kwargs.
    config: further fields of GRPOConfig."""
    with tempfile.TemporaryDirectory(prefix="lossproof-") as scratch:
        own = model is None
        if own:
            model = tiny_model(len(tokenizer))
        if own and beta != 0.0:
            folder = os.path.join(scratch, "model")
            model.save_pretrained(folder)
            model = folder
        trainer = GRPOTrainer(
            model=model,
            args=GRPOConfig(
                output_dir=os.path.join(scratch, "out"),
                beta=beta,
                generation_kwargs=None if stops is None else {"eos_token_id": stops},
                use_cpu=True,
                bf16=False,
                gradient_checkpointing=False,
                report_to="none",
                **config,
            ),
            # The reward that a row of the dataset carries.
            reward_funcs=lambda prompts, reward, **_: reward,
            train_dataset=Dataset.from_list([{"prompt": "x", "reward": 0.0}]),
            processing_class=tokenizer,
        )
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1  # set by Trainer.train() otherwise
    return trainer


def prompted(trainer, route, messages, add_generation_prompt, chat_template):
    """(ids, text) of one prompt, by the method that GRPOTrainer tokenises every prompt with."""
    if route != "rl":
        raise Reject("GRPOTrainer has the rl route only")
    if not add_generation_prompt:
        raise Reject("GRPOTrainer always adds the generation prompt")
    with rendering(trainer.processing_class, chat_template) as rendered:
        ids, _, _ = trainer._tokenize_prompts([messages])
    texts, _, _ = rendered[0]
    return ids[0], texts[0]
