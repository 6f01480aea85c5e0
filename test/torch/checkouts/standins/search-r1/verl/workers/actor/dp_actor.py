"""The policy's forward pass and update."""

import torch

from verl.trainer.ppo import core_algos
from verl.utils.torch_functional import entropy_from_logits, logprobs_from_logits, masked_mean


class DataParallelPPOActor:
    def _forward_micro_batch(self, micro_batch, temperature):
        responses = micro_batch["responses"]
        inputs = {name: micro_batch[name] for name in ("input_ids", "attention_mask", "position_ids")}
        logits = self.actor_module(**inputs, use_cache=False).logits / temperature
        logits = logits[:, -responses.size(1) - 1 : -1]
        return entropy_from_logits(logits), logprobs_from_logits(logits, responses)

    def update_policy(self, data):
        temperature = data.meta_info["temperature"]
        keys = ["responses", "input_ids", "attention_mask", "position_ids", "old_log_probs", "advantages", "loss_mask"]
        config = self.config
        for mini_batch in data.select(batch_keys=keys).batch.split(config.ppo_mini_batch_size):
            micro_batches = mini_batch.split(config.ppo_micro_batch_size)
            for micro_batch in micro_batches:
                micro_batch = micro_batch.cuda()
                mask = micro_batch["loss_mask"]
                entropy, log_prob = self._forward_micro_batch(micro_batch=micro_batch, temperature=temperature)
                old, gain = micro_batch["old_log_probs"], micro_batch["advantages"]
                loss = core_algos.compute_policy_loss(old, log_prob, gain, mask, config.clip_ratio)
                loss = loss - config.entropy_coeff * masked_mean(entropy, mask)
                (loss / len(micro_batches)).backward()
            self._optimizer_step()
        return {}
