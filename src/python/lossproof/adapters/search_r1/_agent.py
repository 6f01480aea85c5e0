"""The agent loop, LLMGenerationManager, with what is sampled and what the search engine finds given."""

from types import SimpleNamespace

from lossproof.adapters.common._library import quietly
from lossproof.adapters.search_r1._parts import DataProto, generation, trainer
from lossproof.testing import instance

import torch

# Longer than any row that is asked about.
LENGTHS = {"max_start_length": 32768, "max_prompt_length": 65536, "max_response_length": 32768, "max_obs_length": 32768}
FOUND = '"A title"\nWhat is known of it.'


class Sampler:
    """The workers that sample: a list of rows per turn, padded."""

    def __init__(self, turns):
        self.turns, self.prompts = list(turns), []

    def generate_sequences(self, batch):
        self.prompts.append(batch.batch["input_ids"])
        return DataProto.from_dict({"responses": torch.as_tensor(self.turns.pop(0), dtype=torch.long)}, meta_info={})


def manager_of(tokenizer, turns=(), exchanges=0, most_observed=None):
    """exchanges: after how many answers of the environment the loop asks for the last time. most_observed: of how many ids of each
    of them are kept."""
    lengths = LENGTHS if most_observed is None else {**LENGTHS, "max_obs_length": most_observed}
    config = generation.GenerationConfig(max_turns=exchanges, num_gpus=1, search_url="", topk=1, **lengths)
    return generation.LLMGenerationManager(tokenizer, Sampler(turns), config)


def looped(manager, ids, attention):
    """run_llm_loop from these prompts (B, P), and its batch with the loss mask, as fit makes of it."""
    positions = (attention.cumsum(1) - 1).clamp(min=0)
    start = DataProto.from_dict({"input_ids": ids, "attention_mask": attention, "position_ids": positions}, meta_info={})
    # As fit cuts them.
    first = ids[:, -manager.config.max_start_length :].clone().long()
    with quietly():
        batch = manager.run_llm_loop(gen_batch=start, initial_input_ids=first)
    for name in list(batch.batch.keys()):
        batch.batch[name] = batch.batch[name].long()
    return instance(trainer.RayPPOTrainer)._create_loss_mask(batch, {})[0].batch


def laid(batch):
    """The fields of a row; what is trained is what update_policy gets for its mask."""
    return {
        "input_ids": batch["input_ids"],
        "attention_mask": batch["attention_mask"],
        "position_ids": batch["position_ids"],
        "completion_mask": batch["loss_mask"],
    }


class Retriever:
    """`requests`, as far as the environment calls it: one passage a query, always the same."""

    @staticmethod
    def post(_, json):
        found = [[{"document": {"contents": FOUND}, "score": 1.0}] for _ in json["queries"]]
        return SimpleNamespace(json=lambda: {"result": found})
