"""The critic's forward pass and update. A value stands at the token that it was asked for, so masks are those of tokens."""

import torch

from verl.trainer.ppo import core_algos


class DataParallelPPOCritic:
    def __init__(self, config, critic_module, critic_optimizer):
        self.config, self.critic_module, self.critic_optimizer = config, critic_module, critic_optimizer

    def _written(self, batch):
        width = batch["responses"].size(1)
        return batch["info_mask"][:, batch["info_mask"].size(1) - width :]

    def compute_values(self, data):
        keys = ["responses", "input_ids", "attention_mask", "info_mask", "position_ids"]
        batch = data.select(batch_keys=keys).batch
        with torch.no_grad():
            values = torch.cat([self._forward_micro_batch(part) for part in batch.split(data.meta_info["micro_batch_size"])])
        return torch.where(self._written(batch).bool(), values, 0.0)

    def update_critic(self, data):
        keys = ["input_ids", "responses", "attention_mask", "info_mask", "position_ids", "values", "returns"]
        config = self.config
        for mini_batch in data.select(batch_keys=keys).batch.split(config.ppo_mini_batch_size):
            micro_batches = mini_batch.split(config.ppo_micro_batch_size)
            for micro_batch in micro_batches:
                micro_batch = micro_batch.cuda()
                found = self._forward_micro_batch(micro_batch)
                old, wanted = micro_batch["values"], micro_batch["returns"]
                loss = core_algos.compute_value_loss(found, wanted, old, self._written(micro_batch), config.cliprange_value)
                (loss / len(micro_batches)).backward()
            self._optimizer_step()
        return {}
