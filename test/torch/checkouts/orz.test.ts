// The adapter of Open-Reasoner-Zero on a stand-in of its clone that is right, and on copies of it with a fault each.
import { expect, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { having } from '../checked.ts';
import { cloneOf, family, type Planted } from './clones.ts';

const ACTORS = 'orz/ppo/actors.py';
const EXPERIMENT = 'playground/orz_7b_ppo.py';
const MODELS = 'orz/ppo/models.py';
const UTILS = 'orz/ppo/utils.py';

const clone = cloneOf('orz', 'orz/ppo/trainer.py');

test('a right trainer fails nothing', () => clone.holds(120));

test('a right trainer fails nothing where rows are padded', () =>
  clone.holds(50, { LOSSPROOF_ROWS: 'padded' }));

test('a tokenizer that has a BOS', () => clone.holds(120, family('gemma')));

test('doctor asks every op of it, and has no complaint', () =>
  clone.answers([
    'advantages',
    'decode',
    'entropy',
    'gae',
    'kl',
    'logprobs',
    'loss',
    'mask',
    'model_score',
    'pack',
    'render',
    'reward_model',
    'rollout',
    'score',
    'token_rewards',
    'tokenize',
    'train_step',
    'truncate_prompts',
    'value_loss',
    'values',
    'whiten',
  ]));

test.each<[string, Planted]>([
  [
    'actions that begin a token late',
    {
      file: MODELS,
      changes: [['track[:, end - count - 1 : end - 1]', 'track[:, end - count : end]']],
      ids: ['mask/every-completion-token-is-trained', 'pack/labels-stay-with-their-tokens'],
    },
  ],
  [
    'positions that go on over packed rows',
    {
      file: MODELS,
      changes: [
        [
          'reset_position_ids(attention_mask) if packing else attention_mask.long()',
          '(attention_mask > 0).long()',
        ],
      ],
      ids: ['pack/positions-restart', 'score/packed-equals-separate'],
    },
  ],
  [
    'the sign of the KL',
    {
      file: UTILS,
      changes: [['kl = torch.exp(-gap) + gap - 1', 'kl = torch.exp(gap) - gap - 1']],
      ids: ['kl/equals-the-estimator'],
    },
  ],
  [
    'the sign of the KL in the loss',
    {
      file: ACTORS,
      changes: [['gap = base - found', 'gap = found - base']],
      ids: ['loss/equals-the-declared-formula'],
    },
  ],
  [
    'GAE that reads on behind the end of a response',
    {
      file: UTILS,
      changes: [
        [
          'behind, ahead = (0.0, 0.0) if t in ends else',
          'behind, ahead = (0.0, 0.0) if t + 1 == rewards.size(1) else',
        ],
      ],
      ids: ['gae/equals-the-sum-of-deltas', 'gae/independent-of-row-order'],
    },
  ],
  [
    'whitening by the squares about zero',
    {
      file: UTILS,
      changes: [['masked_mean((every - mean) ** 2, real)', 'masked_mean(every**2, real)']],
      ids: ['advantages/whitening-gives-deviation-1'],
    },
  ],
  [
    'groups whose deviation is the outcome of a comparison, and that are known by their text',
    {
      file: EXPERIMENT,
      changes: [
        ['pass_at_n_dict[id(prompt)].append', 'pass_at_n_dict[prompt].append'],
        ['group = pass_at_n_dict[id(prompt)]', 'group = pass_at_n_dict[prompt]'],
        ['(np.std(group) + 1e-6)', '((np.std(group) > 0) + 1e-6)'],
      ],
      ids: ['advantages/equal-the-declared-formula', 'advantages/independent-of-batch-mates'],
    },
  ],
  [
    'completions encoded again',
    {
      changes: [['list(getattr(text, "ids", None) or ids)', 'list(ids)']],
      ids: ['rollout/scored-ids-are-sampled-ids'],
    },
  ],
  [
    'the score of a row on the token before its last',
    {
      file: UTILS,
      changes: [
        ['torch.tensor(num_actions).cumsum(0) - 1] += r', 'torch.tensor(num_actions).cumsum(0) - 2] += r'],
      ],
      ids: ['token_rewards/one-token-carries-the-score'],
    },
  ],
  [
    'padded rows that train their padding',
    {
      changes: [['trained.append([1] * len(answer) + [0] * right)', 'trained.append([1] * room)']],
      ids: ['mask/padding-is-never-trained'],
      env: { LOSSPROOF_ROWS: 'padded' },
    },
  ],
  [
    'whitening over padding',
    {
      file: UTILS,
      changes: [
        [
          'torch.ones_like(item.advantages) if item.action_mask is None else item.action_mask',
          'torch.ones_like(item.advantages)',
        ],
      ],
      ids: [
        'advantages/whitening-independent-of-padding',
        'advantages/whitening-masked-values-do-not-matter',
      ],
      env: { LOSSPROOF_ROWS: 'padded' },
    },
  ],
])('finds: %s', (_, planted) => clone.finds(planted));

test('a trainer that has not all of it says which ops it lacks', async () => {
  const { results, out } = await clone.changed(
    {
      file: EXPERIMENT,
      changes: [['for i, prompt in enumerate(prompts):', 'for i, prompt in list(enumerate(prompts)):']],
    },
    ['--cases', '5', '--seed', '1'],
  );
  expect(having(results, ...FAILING), out).toEqual([]);
  expect(out).toContain('orz drives Open-Reasoner-Zero of no commit');
  expect(out).toMatch(/has no line\s+`for i, prompt in enumerate\(prompts\):`/);
});

clone.refusals();
