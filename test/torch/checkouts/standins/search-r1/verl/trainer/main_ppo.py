"""The reward of the outcome: whether the answer is the right one."""

import torch

from verl.utils.reward_score import compute_score_em


def _select_rm_score_fn(data_source):
    return compute_score_em


class RewardManager:
    def __init__(self, tokenizer, num_examine, format_score=0.0):
        self.tokenizer, self.format_score = tokenizer, format_score

    def __call__(self, data):
        rewards = torch.zeros(data.batch["responses"].shape)
        for row in range(len(data)):
            item = data[row]
            width = item.batch["prompts"].size(0)
            length = int(item.batch["attention_mask"][width:].sum())
            response = item.batch["responses"][:length].tolist()
            score = _select_rm_score_fn(item.non_tensor_batch["data_source"])(
                solution_str=self.tokenizer.decode(response),
                ground_truth=item.non_tensor_batch["reward_model"]["ground_truth"],
                format_score=self.format_score,
            )
            rewards[row, length - 1] = score
        return rewards
