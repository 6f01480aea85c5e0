"""A very small trainer: what a real one does with a batch between sampling and the loss, in plain Python."""
import math


def build_batch(prompts, completions, pad):
    """[prompt | completion], both padded to their widest: prompts on the left, completions on the right."""
    prompt_width = max(len(row) for row in prompts)
    width = max(len(row) for row in completions)
    ids, attention, trained = [], [], []
    for prompt, completion in zip(prompts, completions):
        left, right = prompt_width - len(prompt), width - len(completion)
        ids.append([pad] * left + prompt + completion + [pad] * right)
        attention.append([0] * left + [1] * (len(prompt) + len(completion)) + [0] * right)
        trained.append([0] * prompt_width + [1] * len(completion) + [0] * right)
    return {"input_ids": ids, "attention_mask": attention, "completion_mask": trained}


def k3(logprob, ref_logprob):
    """An estimate of KL(policy || reference) from one sampled token."""
    difference = ref_logprob - logprob
    return math.expm1(difference) - difference


def group_advantages(rewards, epsilon=1e-4):
    """How much better than the other answers to the same prompt, in standard deviations of the group."""
    mean = sum(rewards) / len(rewards)
    deviation = math.sqrt(sum((reward - mean) ** 2 for reward in rewards) / max(1, len(rewards) - 1))
    return [(reward - mean) / (deviation + epsilon) for reward in rewards]
