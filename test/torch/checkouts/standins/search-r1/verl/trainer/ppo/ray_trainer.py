"""What the driver does between sampling and the update."""

import torch

from verl.trainer.ppo import core_algos


def _response_mask(data):
    width = data.batch["responses"].size(1)
    mask = data.batch["info_mask"] if "info_mask" in data.batch.keys() else data.batch["attention_mask"]
    return mask[:, mask.size(1) - width :]


def apply_kl_penalty(data, kl_ctrl, kl_penalty="kl"):
    mask = _response_mask(data)
    kl = core_algos.kl_penalty(data.batch["old_log_probs"], data.batch["ref_log_prob"], kl_penalty)
    kl = torch.where(mask.bool(), kl, 0.0)
    data.batch["token_level_rewards"] = data.batch["token_level_scores"] - kl_ctrl.value * kl
    return data, {"critic/kl_coeff": kl_ctrl.value}


def compute_advantage(data, adv_estimator, gamma=1.0, lam=1.0):
    mask = _response_mask(data)
    rewards = data.batch["token_level_rewards"]
    if adv_estimator == "gae":
        values = data.batch["values"]
        found = core_algos.compute_gae_advantage_return(rewards, values, mask, gamma, lam)
    else:
        found = core_algos.compute_grpo_outcome_advantage(rewards, mask, data.non_tensor_batch["uid"])
    data.batch["advantages"], data.batch["returns"] = found
    return data


class RayPPOTrainer:
    def _create_loss_mask(self, batch, metrics):
        batch.batch["loss_mask"] = _response_mask(batch)
        return batch, metrics
