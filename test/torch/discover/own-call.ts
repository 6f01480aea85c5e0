// Trainers' functions as they are written elsewhere, with a bug for each.
export interface Called {
  readonly name: string;
  readonly source: string;
  /** What one of its assumptions says. */
  readonly assumed: string;
  readonly bug: readonly [right: string, wrong: string];
  /** Not where no name says what a number of it is: then it is left out. */
  readonly shown?: false;
}

export const GAE: readonly Called[] = [
  {
    name: 'TRL: columns of tokens, padding zeroed before',
    source: `import torch


def gae_advantages(values, rewards, gamma, lam):
    last, reversed_ = 0, []
    length = rewards.shape[1]
    for t in reversed(range(length)):
        after = values[:, t + 1] if t < length - 1 else 0.0
        delta = rewards[:, t] + gamma * after - values[:, t]
        last = delta + gamma * lam * last
        reversed_.append(last)
    advantages = torch.stack(reversed_[::-1], axis=1)
    return advantages, advantages + values
`,
    assumed: 'rewards and values are 0 on padding',
    bug: ['gamma * lam * last', 'lam * last'],
  },
  {
    name: 'padding zeroed before, and a mask of booleans for whitening alone',
    source: `import torch


def estimate_gae(values, rewards, gamma, lmbda, masks=None):
    running, found = 0, []
    steps = values.shape[-1]
    for t in range(steps - 1, -1, -1):
        following = values[:, t + 1] if t + 1 < steps else 0.0
        running = rewards[:, t] + gamma * following - values[:, t] + gamma * lmbda * running
        found.insert(0, running)
    raw = torch.stack(found, dim=1)
    if masks is None:
        return raw, raw + values
    kept = raw[masks]
    white = (raw - kept.mean()) / (kept.std() + 1e-8)
    white[~masks] = 0.0
    return white, raw + values
`,
    assumed: 'rewards and values are 0 on padding',
    bug: ['gamma * lmbda * running', 'lmbda * running'],
  },
  {
    name: 'CleanRL: time first, dones, a last value',
    source: `import torch


def compute_gae(rewards, values, dones, next_value, next_done, gamma=0.99, gae_lambda=0.95):
    steps = rewards.shape[0]
    advantages = torch.zeros_like(rewards)
    last = 0
    for t in reversed(range(steps)):
        alive = 1.0 - (next_done if t == steps - 1 else dones[t + 1])
        following = next_value if t == steps - 1 else values[t + 1]
        delta = rewards[t] + gamma * following * alive - values[t]
        advantages[t] = last = delta + gamma * gae_lambda * alive * last
    return advantages, advantages + values
`,
    assumed: 'the first axis is time',
    bug: ['following * alive - values[t]', 'following * alive'],
  },
  {
    name: 'one value more than rewards, in a dict',
    source: `import torch


def discounted_gae(rewards, values, gamma, lam):
    deltas = rewards + gamma * values[:, 1:] - values[:, :-1]
    out, acc = [], torch.zeros(rewards.shape[0])
    for t in range(rewards.shape[1] - 1, -1, -1):
        acc = deltas[:, t] + gamma * lam * acc
        out.insert(0, acc)
    advantages = torch.stack(out, 1)
    return {"advantages": advantages, "returns": advantages + values[:, :-1]}
`,
    assumed: 'a last value of 0 follows',
    bug: ['values[:, 1:] - values[:, :-1]', 'values[:, :-1] - values[:, 1:]'],
  },
  {
    name: 'one trajectory, lists',
    source: `def gae(rewards, values, gamma=1.0, lam=0.95):
    advantages, last = [0.0] * len(rewards), 0.0
    for t in reversed(range(len(rewards))):
        after = values[t + 1] if t + 1 < len(values) else 0.0
        last = rewards[t] + gamma * after - values[t] + gamma * lam * last
        advantages[t] = last
    return advantages
`,
    assumed: 'one row at a time',
    bug: ['after = values[t + 1]', 'after = values[t]'],
  },
];

export const LOSSES: readonly Called[] = [
  {
    name: 'REINFORCE with a normalizer',
    source: `import torch


def reinforce_loss(token_logps, advantages, response_mask, normalizer):
    return -(token_logps * advantages[:, None] * response_mask).sum() / normalizer
`,
    assumed: 'divided by the number of trained tokens',
    bug: [' * response_mask)', ')'],
  },
  {
    name: 'a divisor of a name that says nothing',
    source: `import torch


def policy_gradient_loss(log_probs, old_log_probs, adv, loss_mask, global_valid, eps_clip=0.2):
    ratio = (log_probs - old_log_probs).exp()
    kept = ratio.clamp(1 - eps_clip, 1 + eps_clip)
    return -(torch.min(ratio * adv, kept * adv) * loss_mask).sum() / global_valid
`,
    assumed: 'divided by the number of trained tokens',
    bug: ['torch.min', 'torch.max'],
    shown: false,
  },
  {
    name: 'a weight of the caller',
    source: `import torch


def ppo_policy_loss(logps, old_logps, advantages, action_mask, clip_eps, loss_weight):
    ratio = (logps - old_logps).exp()
    kept = ratio.clamp(1 - clip_eps, 1 + clip_eps)
    each = torch.max(-ratio * advantages, -kept * advantages)
    return loss_weight * (each * action_mask).sum() / action_mask.sum()
`,
    assumed: 'a number of the caller is 1',
    bug: ['torch.max', 'torch.min'],
    shown: false,
  },
  {
    name: 'sums over rows, by the size of the whole batch',
    source: `import torch


def policy_gradient_loss(logp, adv, mask, global_batch_size):
    return -((logp * mask).sum(1) * adv).sum() / global_batch_size
`,
    assumed: 'divided by the number of rows',
    bug: ['return -((', 'return (('],
  },
];
