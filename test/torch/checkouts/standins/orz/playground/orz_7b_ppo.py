"""The experiment of the stand-in."""

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import torch

from orz.exps.examples.ppo.ppo_base_exp import BasePPOExp, BasePPOExpConfig
from orz.ppo import RayPPOTrainer
from playground.zero_setting_base import CustomDataset

executor = ThreadPoolExecutor(max_workers=2)


@dataclass
class PPOExpConfig(BasePPOExpConfig):
    use_kl_estimator_k3: bool = True


def solution2answer(text):
    return text.strip()


async def is_equal(first, second, executor):
    return first == second


class CustomRewardTrainer(RayPPOTrainer):
    async def generate_vllm(self, gen_func, prompts, extras):
        from vllm import SamplingParams

        params = SamplingParams(skip_special_tokens=False, include_stop_str_in_output=True)
        responses, reasons = await gen_func(prompts=prompts, sampling_params=params)
        return [
            {
                "response": response,
                "stop_reason": reason,
                "iscorrect": await is_equal(solution2answer(extra["answer"]), solution2answer(response), executor),
            }
            for response, reason, extra in zip(responses, reasons, extras)
        ]

    async def custom_reward_fn(self, prompts, outputs, extras, reward_model_fn):
        scores, pass_at_n_dict = [], defaultdict(list)
        for prompt, output in zip(prompts, outputs):
            scores.append(float(output["iscorrect"] and output["stop_reason"] == "stop"))
            pass_at_n_dict[id(prompt)].append(scores[-1])  # one text a row of the data set, repeated
        if self.cfg.use_grpo:
            for i, prompt in enumerate(prompts):
                group = pass_at_n_dict[id(prompt)]
                scores[i] = (scores[i] - np.mean(group)) / (np.std(group) + 1e-6)
        said = [(prompt, output["response"], score) for prompt, output, score in zip(prompts, outputs, scores)]
        said = [row for row in said if row[1]]
        rewards = []
        for _, response, score in said:
            reward = torch.zeros(len(response.ids))
            reward[-1] = score
            rewards.append(reward)
        return [row[0] for row in said], [row[1] for row in said], rewards


class PPOExp(BasePPOExp):
    dataset = CustomDataset
