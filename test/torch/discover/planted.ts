// Three whole trainers, and one bug that is put into them at a time: a stretch of their text that stands there once, and what people
// write in its place.
export interface Planted {
  readonly trainer: 'grpo' | 'ppo' | 'plain';
  readonly bug: string;
  /** That are wrong with it: the one that it stands in, and those that call that one. */
  readonly wrong: readonly string[];
  readonly right: string;
  readonly instead: string;
}

const planted =
  (trainer: Planted['trainer'], ...wrong: readonly string[]) =>
  (bug: string, right: string, instead: string): Planted => ({ trainer, bug, wrong, right, instead });

const mask = planted('grpo', 'build_batch');
const logprobs = planted('grpo', 'token_logprobs');
const kl = planted('grpo', 'kl_k3', 'grpo_loss');
const advantages = planted('grpo', 'group_advantages');
const loss = planted('grpo', 'grpo_loss');

const TRAINED = '[0] * prompt_width + [1] * len(completion) + [0] * right';

export const PLANTED: readonly Planted[] = [
  mask(
    'a mask that begins one token early',
    TRAINED,
    '[0] * (prompt_width - 1) + [1] * (len(completion) + 1) + [0] * right',
  ),
  mask(
    'the stop token is not trained',
    TRAINED,
    '[0] * prompt_width + [1] * (len(completion) - 1) + [0] * (right + 1)',
  ),
  mask('padding is trained', TRAINED, '[0] * prompt_width + [1] * (len(completion) + right)'),
  mask(
    'padding is attended to',
    '[0] * left + [1] * (len(prompt) + len(completion)) + [0] * right',
    '[1] * width',
  ),
  mask(
    'the ids lack the stop token',
    'left + prompt + completion + [pad_token_id] * right',
    'left + prompt + completion[:-1] + [pad_token_id] * (right + 1)',
  ),
  logprobs('the temperature is dropped', '(logits[:, :-1] / temperature)', 'logits[:, :-1]'),
  logprobs('logits and ids are of the same place', 'input_ids[:, 1:, None]', 'input_ids[:, :-1, None]'),
  planted('grpo', 'token_entropy')(
    'the sign',
    'return -(table.exp() * table)',
    'return (table.exp() * table)',
  ),
  planted('grpo', 'sft_loss')(
    'labels are not shifted',
    'labels[:, 1:].flatten()',
    'labels[:, :-1].flatten()',
  ),
  kl('k3 with a sign swapped', 'log_ratio.exp() - log_ratio - 1', 'log_ratio.exp() + log_ratio - 1'),
  kl('policy and reference swapped', 'ref_logprobs - logprobs', 'logprobs - ref_logprobs'),
  advantages(
    'rows of several groups mixed',
    'rewards.view(-1, group_size)',
    'rewards.view(group_size, -1).T',
  ),
  advantages('the mean of the batch', 'groups.mean(1, keepdim=True)', 'groups.mean()'),
  advantages('no epsilon', '(spread + eps)', 'spread'),
  loss(
    'the ratio is detached',
    '(logprobs - old_logprobs).exp()',
    '(logprobs - old_logprobs).exp().detach()',
  ),
  loss('the optimistic one of two', '-torch.min(', '-torch.max('),
  loss(
    'bounds of the clip crossed',
    'ratio.clamp(1 - clip_low, 1 + clip_high)',
    'ratio.clamp(1 - clip_high, 1 + clip_low)',
  ),
  loss('padding in the mean', 'mask.sum().clamp(min=1)', 'mask.numel()'),
  loss(
    'the KL of the reference',
    'kl_k3(logprobs, ref_logprobs), mask)',
    'kl_k3(ref_logprobs, logprobs), mask)',
  ),
  planted('grpo', 'overlong_penalty')('a reward for length', 'else -min(', 'else min('),
  planted('grpo', 'overlong_penalty')(
    'it grows with the square',
    'over / max(1, buffer)',
    '(over / max(1, buffer)) ** 2',
  ),
  planted('ppo', 'gae')(
    'GAE without its mask',
    'torch.where(inside, delta + gamma * lam * running, running)',
    'delta + gamma * lam * running',
  ),
  planted('ppo', 'gae')(
    'returns are what is lacking',
    'advantages, (advantages + values) * mask',
    'advantages, (advantages - values) * mask',
  ),
  planted('ppo', 'value_loss')('the smaller of two', 'torch.max((values', 'torch.min((values'),
  planted('ppo', 'masked_whiten')(
    'padding in the mean',
    'mean = masked_mean(values, mask)',
    'mean = values.mean()',
  ),
  planted('ppo', 'token_rewards')('the KL is rewarded', 'rewards = -kl_coef', 'rewards = kl_coef'),
  planted('ppo', 'token_rewards')(
    'the score at the last column',
    '(columns * mask).argmax(1)',
    'columns.argmax().repeat(len(mask))',
  ),
  planted('ppo', 'policy_loss')('the optimistic one of two', 'torch.max(-ratio', 'torch.min(-ratio'),
  planted('ppo', 'kl_k1')(
    'policy and reference swapped',
    'logprobs - ref_logprobs',
    'ref_logprobs - logprobs',
  ),
  planted('plain', 'collate')(
    'positions count padding',
    '[0] * left + list(range(len(row)))',
    'list(range(width))',
  ),
  planted('plain', 'collate')('padding is attended to', '[0] * left + [1] * len(row)', '[1] * width'),
  planted('plain', 'dpo_loss')(
    'the sign of a reward',
    'return loss, chosen_reward, rejected_reward',
    'rejected_reward = -rejected_reward\n    return loss, chosen_reward, rejected_reward',
  ),
  planted('plain', 'dpo_loss')(
    'policy and reference crossed',
    'chosen_reward = beta * (chosen - ref_chosen)',
    'chosen_reward = beta * (ref_chosen - chosen)',
  ),
  planted('plain', 'Scorer.token_logprobs')(
    'times the temperature',
    'each / self.settings.temperature',
    'each * self.settings.temperature',
  ),
  planted('plain', 'Scorer.advantages_and_returns')(
    'lambda is dropped',
    'self.settings.gamma * self.settings.gae_lambda * running',
    'self.settings.gamma * running',
  ),
  planted('plain', 'Scorer.advantages_and_returns')(
    'returns are what is lacking',
    'each + own for',
    'each - own for',
  ),
  planted('plain', 'pack')(
    'positions run on',
    'at["position_ids"] += list(range(len(row)))',
    'at["position_ids"] = list(range(len(at["input_ids"])))',
  ),
  planted('plain', 'token_rewards')(
    'the KL of the trained token before',
    'row = [-kl_coef * each * on for each, on in zip(own, trained)]',
    [
      'on = [at for at, each in enumerate(trained) if each]',
      '        row = [-kl_coef * own[on[on.index(at) - 1]] if each else 0.0 for at, each in enumerate(trained)]',
    ].join('\n'),
  ),
  planted('plain', 'pack')(
    'all examples of a row have one number',
    'max(at["segment_ids"], default=0) + 1',
    '1',
  ),
];
