"""PPO with a critic on a model that learns to count, in one file: rewards a token, GAE, whitening, two clipped losses."""
import random

import torch
import torch.nn as nn

BOS, EOS, VOCABULARY, WIDTH, LONGEST = 1, 2, 32, 48, 8


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.body = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.critic = nn.Linear(WIDTH, 1)

    def forward(self, input_ids):
        hidden, _ = self.body(self.embed(input_ids))
        return self.head(hidden), self.critic(hidden).squeeze(-1)


def masked_mean(values, mask):
    return (values * mask).sum() / mask.sum().clamp(min=1)


def kl_k1(logprobs, ref_logprobs):
    return logprobs - ref_logprobs


def token_rewards(scores, kl, mask, kl_coef):
    """The penalty at every token of the completion, the score at the last one."""
    rewards = -kl_coef * kl * mask
    columns = torch.arange(mask.size(1), device=mask.device)
    last = (columns * mask).argmax(1)
    rewards[torch.arange(len(rewards)), last] += scores * (mask.sum(1) > 0)
    return rewards


def gae(rewards, values, mask, gamma, lam):
    """Backwards over the tokens of the completion alone; whatever lies between them is passed over."""
    advantages = torch.zeros_like(rewards)
    after, running = torch.zeros_like(rewards[:, 0]), torch.zeros_like(rewards[:, 0])
    for t in reversed(range(rewards.size(1))):
        inside = mask[:, t] > 0
        delta = rewards[:, t] + gamma * after - values[:, t]
        running = torch.where(inside, delta + gamma * lam * running, running)
        after = torch.where(inside, values[:, t], after)
        advantages[:, t] = torch.where(inside, running, torch.zeros_like(running))
    return advantages, (advantages + values) * mask


def masked_whiten(values, mask, eps=1e-8):
    mean = masked_mean(values, mask)
    variance = masked_mean((values - mean) ** 2, mask)
    return (values - mean) * torch.rsqrt(variance + eps) * mask


def policy_loss(logprobs, old_logprobs, advantages, mask, clip=0.2):
    ratio = (logprobs - old_logprobs).exp()
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return masked_mean(torch.max(-ratio * advantages, -clipped * advantages), mask)


def value_loss(values, old_values, returns, mask, value_clip=0.2):
    near = old_values + (values - old_values).clamp(-value_clip, value_clip)
    return 0.5 * masked_mean(torch.max((values - returns) ** 2, (near - returns) ** 2), mask)


def reward_of(prompt, completion):
    points, expected = 0.0, prompt[-1] + 1
    for token in completion:
        if token != expected:
            break
        points, expected = points + 1.0, expected + 1
    return points / 4


@torch.no_grad()
def sample(model, prompt):
    ids = list(prompt)
    while len(ids) < len(prompt) + LONGEST:
        logits, _ = model(torch.tensor([ids]))
        ids.append(int(torch.multinomial(logits[0, -1].softmax(-1), 1)))
        if ids[-1] == EOS:
            break
    return ids


def train(steps=3, seed=0):
    torch.manual_seed(seed)
    policy, reference = ActorCritic(), ActorCritic()
    reference.load_state_dict(policy.state_dict())
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3)
    for step in range(steps):
        prompts = [[BOS, random.randrange(3, 24)] for _ in range(8)]
        rows = [sample(policy, prompt) for prompt in prompts]
        width = max(map(len, rows))
        ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        mask = torch.tensor([[0] * 1 + [1] * (len(row) - 2) + [0] * (width - len(row)) for row in rows])
        scores = torch.tensor([reward_of(row[:2], row[2:]) for row in rows])
        with torch.no_grad():
            old_logits, old_values = policy(ids)
            old = old_logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
            ref = reference(ids)[0][:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
            rewards = token_rewards(scores, kl_k1(old, ref), mask, 0.05)
            advantages, returns = gae(rewards, old_values[:, :-1], mask, 1.0, 0.95)
            advantages = masked_whiten(advantages, mask)
        logits, values = policy(ids)
        new = logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
        loss = policy_loss(new, old, advantages, mask) + value_loss(values[:, :-1], old_values[:, :-1], returns, mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f} reward {scores.mean():.2f}")


if __name__ == "__main__":
    train()
