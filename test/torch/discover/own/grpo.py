"""GRPO on a model of two layers that learns to count, in one file: what a person writes to understand the method."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, BOS, EOS = 0, 1, 2
VOCABULARY, WIDTH = 32, 48


class TinyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.place = nn.Embedding(64, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, input_ids, attention_mask):
        length = input_ids.size(1)
        positions = (attention_mask.cumsum(1) - 1).clamp(min=0)
        causal = torch.triu(torch.ones(length, length, dtype=torch.bool), 1)
        blocked = causal[None] | (attention_mask[:, None, :] == 0)
        blocked = blocked & ~torch.eye(length, dtype=torch.bool)
        hidden = self.embed(input_ids) + self.place(positions)
        hidden = self.layers(hidden, mask=blocked.repeat_interleave(4, 0))
        return self.head(hidden)


def build_batch(prompt_ids, completion_ids, pad_token_id=PAD):
    """[left padding | prompt | completion | right padding], and which tokens are trained."""
    prompt_width = max(len(row) for row in prompt_ids)
    width = prompt_width + max(len(row) for row in completion_ids)
    ids, attention, trained = [], [], []
    for prompt, completion in zip(prompt_ids, completion_ids):
        left = prompt_width - len(prompt)
        right = width - prompt_width - len(completion)
        ids.append([pad_token_id] * left + prompt + completion + [pad_token_id] * right)
        attention.append([0] * left + [1] * (len(prompt) + len(completion)) + [0] * right)
        trained.append([0] * prompt_width + [1] * len(completion) + [0] * right)
    return torch.tensor(ids), torch.tensor(attention), torch.tensor(trained)


def token_logprobs(logits, input_ids, temperature=1.0):
    """(B, T) logits to (B, T - 1): the log-probability of each token but the first."""
    table = (logits[:, :-1] / temperature).log_softmax(-1)
    return table.gather(-1, input_ids[:, 1:, None]).squeeze(-1)


def token_entropy(logits):
    table = logits.log_softmax(-1)
    return -(table.exp() * table).sum(-1)


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum().clamp(min=1)


def kl_k3(logprobs, ref_logprobs):
    log_ratio = ref_logprobs - logprobs
    return log_ratio.exp() - log_ratio - 1


def group_advantages(rewards, group_size, eps=1e-4):
    groups = rewards.view(-1, group_size)
    spread = groups.std(1, keepdim=True)
    return ((groups - groups.mean(1, keepdim=True)) / (spread + eps)).flatten()


def grpo_loss(logprobs, old_logprobs, ref_logprobs, advantages, mask, clip_low=0.2, clip_high=0.28, beta=0.04):
    """`advantages` is (B,), everything else (B, T)."""
    ratio = (logprobs - old_logprobs).exp()
    gain = advantages[:, None]
    clipped = ratio.clamp(1 - clip_low, 1 + clip_high)
    policy = -torch.min(ratio * gain, clipped * gain)
    return masked_mean(policy + beta * kl_k3(logprobs, ref_logprobs), mask)


def sft_loss(logits, labels):
    """Labels beside their tokens, -100 where nothing is trained."""
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)


def overlong_penalty(length, max_length, buffer):
    """Nothing up to the buffer, then evenly down to -1 at the limit."""
    over = length - (max_length - buffer)
    return 0.0 if over <= 0 else -min(1.0, over / max(1, buffer))


def reward_of(prompt, completion, longest=8):
    """One point for each token that goes on counting."""
    expected, points = prompt[-1] + 1, 0.0
    for token in completion:
        if token != expected:
            break
        points += 1.0
        expected += 1
    return points / 4 + overlong_penalty(len(completion), longest, 2)


@torch.no_grad()
def sample(model, prompt, longest=8):
    ids = list(prompt)
    while len(ids) < len(prompt) + longest:
        row = torch.tensor([ids])
        logits = model(row, torch.ones_like(row))[0, -1]
        ids.append(int(torch.multinomial(logits.softmax(-1), 1)))
        if ids[-1] == EOS:
            break
    return ids[len(prompt) :]


def train(steps=3, group_size=4, seed=0):
    torch.manual_seed(seed)
    policy, reference = TinyModel(), TinyModel()
    reference.load_state_dict(policy.state_dict())
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
    for step in range(steps):
        prompts = [[BOS, random.randrange(3, 24)] for _ in range(2) for _ in range(1)]
        prompts = [prompt for prompt in prompts for _ in range(group_size)]
        completions = [sample(policy, prompt) for prompt in prompts]
        rewards = torch.tensor([reward_of(*pair) for pair in zip(prompts, completions)])
        ids, attention, trained = build_batch(prompts, completions)
        advantages = group_advantages(rewards, group_size)
        with torch.no_grad():
            old = token_logprobs(policy(ids, attention), ids)
            ref = token_logprobs(reference(ids, attention), ids)
        logits = policy(ids, attention)
        logprobs = token_logprobs(logits, ids)
        loss = grpo_loss(logprobs, old, ref, advantages, trained[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        entropy = masked_mean(token_entropy(logits)[:, :-1], trained[:, 1:])
        print(f"step {step} loss {loss.item():.4f} reward {rewards.mean():.2f} entropy {entropy:.2f}")


if __name__ == "__main__":
    train()
