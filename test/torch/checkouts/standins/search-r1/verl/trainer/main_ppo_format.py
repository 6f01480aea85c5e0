"""The reward of outcome and form."""

from verl.trainer import main_ppo
from verl.utils.reward_score import compute_score_em, is_valid_sequence


class RewardManager(main_ppo.RewardManager):
    def __init__(self, tokenizer, num_examine, structure_format_score=0.0, final_format_score=0.0, retrieval_score=0.0):
        super().__init__(tokenizer, num_examine)
        self.structure, self.final = structure_format_score, final_format_score

    def __call__(self, data):
        rewards = super().__call__(data)
        for row in range(len(data)):
            item = data[row]
            length = int(item.batch["attention_mask"][item.batch["prompts"].size(0) :].sum())
            text = self.tokenizer.decode(item.batch["responses"][:length].tolist())
            right = compute_score_em(text, item.non_tensor_batch["reward_model"]["ground_truth"])
            form = self.structure if is_valid_sequence(text) else self.final if "<answer>" in text else 0.0
            rewards[row, length - 1] = right or form
        return rewards
