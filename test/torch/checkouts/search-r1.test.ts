// The adapter of Search-R1 on a stand-in of its clone that is right, and on copies of it with a fault each.
import { expect, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { having } from '../checked.ts';
import { cloneOf, family, type Planted } from './clones.ts';

const ALGORITHMS = 'verl/trainer/ppo/core_algos.py';
const CRITIC = 'verl/workers/critic/dp_critic.py';
const DRIVER = 'verl/trainer/ppo/ray_trainer.py';
const OUTCOME = 'verl/trainer/main_ppo.py';
const SCORES = 'verl/utils/reward_score.py';

const clone = cloneOf('search-r1', 'search_r1/llm_agent/generation.py');

test('a right trainer fails nothing', () => clone.holds(105));

test('a tokenizer that has a BOS', () => clone.holds(105, family('gemma')));

test('doctor asks every op of it, and has no complaint', () =>
  clone.answers([
    'advantages',
    'entropy',
    'extract',
    'format_score',
    'gae',
    'kl',
    'logprobs',
    'loss',
    'mask',
    'render',
    'reward',
    'rollout',
    'token_rewards',
    'tokenize',
    'tool_step',
    'trajectory',
    'value_loss',
    'whiten',
  ]));

test.each<[string, Planted]>([
  [
    'the output of a tool trained',
    {
      changes: [['[1] * len(ids) + [0] * len(found)', '[1] * len(ids + found)']],
      ids: ['trajectory/injected-tokens-are-never-trained'],
    },
  ],
  [
    'a mask that is shifted by one',
    {
      changes: [
        [
          'info[row, : len(marks)] = torch.tensor(marks)',
          'info[row, 1 : len(marks)] = torch.tensor(marks[:-1])',
        ],
      ],
      ids: [
        'mask/every-completion-token-is-trained',
        'trajectory/injected-tokens-are-never-trained',
        'trajectory/sampled-tokens-are-trained-once',
      ],
    },
  ],
  [
    'an observation in front of the turn that asked for it',
    {
      changes: [['responses[row] += ids + found', 'responses[row] += found + ids']],
      ids: ['trajectory/rows-are-prompt-and-turns'],
    },
  ],
  [
    'an observation that is cut at its other end',
    {
      changes: [
        ['found = found[: self.config.max_obs_length]', 'found = found[-self.config.max_obs_length :]'],
      ],
      ids: ['trajectory/rows-are-prompt-and-turns', 'trajectory/tool-responses-are-cut-to-the-limit'],
      // Most rollouts have a user, whom it refuses.
      cases: 60,
    },
  ],
  [
    'an observation whose mask is as long as it was before the cut',
    {
      changes: [
        [
          'found = found[: self.config.max_obs_length]',
          'unseen = [0] * len(found)\n                found = found[: self.config.max_obs_length]',
        ],
        ['[1] * len(ids) + [0] * len(found)', '[1] * len(ids) + unseen'],
        [
          'info[row, : len(marks)] = torch.tensor(marks)',
          'info[row, : len(marks)] = torch.tensor(marks)[: info.size(1)]',
        ],
      ],
      ids: ['trajectory/injected-tokens-are-never-trained'],
      cases: 60,
    },
  ],
  [
    'turns decoded and encoded again',
    {
      changes: [
        [
          '                return ids[: end + 1]\n        return ids',
          '                return ids[: end + 1]\n        text = self.tokenizer.decode(ids, skip_special_tokens=True)\n        return self.tokenizer(text, add_special_tokens=False)["input_ids"]',
        ],
      ],
      ids: ['rollout/scored-ids-are-sampled-ids'],
    },
  ],
  [
    'a failed action that is answered with nothing',
    {
      changes: [['step = (HELP, 0, 0, 0)', 'step = ("", 0, 0, 0)']],
      ids: ['tools/failed-calls-are-answered'],
    },
  ],
  [
    'an answer that does not end the episode',
    {
      changes: [['step = ("", 1, 1, 0)', 'step = (HELP, 0, 1, 0)']],
      ids: ['tools/calls-go-on-and-answers-end'],
    },
  ],
  [
    'an answer taken from the example in the prompt',
    {
      file: OUTCOME,
      changes: [
        [
          'self.tokenizer.decode(response)',
          'self.tokenizer.decode(item.batch["prompts"].tolist() + response)',
        ],
      ],
      ids: ['reward/degenerate-text-is-no-better-than-a-wrong-answer'],
    },
  ],
  [
    'the first answer, which is the example of the prompt',
    {
      file: OUTCOME,
      changes: [
        [
          'self.tokenizer.decode(response)',
          'self.tokenizer.decode(item.batch["prompts"].tolist() + response)',
        ],
        [
          'from verl.utils.reward_score import compute_score_em',
          'from verl.utils import reward_score\nfrom verl.utils.reward_score import compute_score_em\n\nreward_score.extract_solution = lambda text: reward_score.re.findall(r"<answer>(.*?)</answer>", text)[1].strip()',
        ],
      ],
      ids: ['reward/right-answers-score-above-wrong-ones'],
    },
  ],
  [
    'a form in which a tag may stay open',
    {
      file: SCORES,
      changes: [
        [
          'return before == "answer" and not text[at:].strip()',
          'return "<answer>" in text and (before == "answer" or before == "think")',
        ],
        ['if text[at : block.start()].strip() or block.group(1)', 'if block.group(1)'],
      ],
      ids: ['reward/format-tells-broken-text-apart'],
    },
  ],
  [
    'a penalty for the KL of the whole response, what a tool wrote included, at its last token',
    {
      file: DRIVER,
      changes: [
        [
          'kl = torch.where(mask.bool(), kl, 0.0)',
          'last = mask.cumsum(1).argmax(1, keepdim=True)\n    kl = torch.zeros_like(kl).scatter(1, last, kl.sum(1, keepdim=True))',
        ],
      ],
      ids: ['token_rewards/masked-values-do-not-matter'],
    },
  ],
  [
    'the score on the token before the last',
    {
      file: OUTCOME,
      changes: [['rewards[row, length - 1] = score', 'rewards[row, max(length - 2, 0)] = score']],
      ids: ['token_rewards/one-token-carries-the-score'],
    },
  ],
  [
    'what a tool wrote as steps of the estimate',
    {
      file: DRIVER,
      changes: [
        [
          'def compute_advantage(data, adv_estimator, gamma=1.0, lam=1.0):\n    mask = _response_mask(data)',
          'def compute_advantage(data, adv_estimator, gamma=1.0, lam=1.0):\n    mask = data.batch["attention_mask"][:, -data.batch["responses"].size(1) :]',
        ],
      ],
      ids: ['gae/masked-tokens-are-no-steps'],
    },
  ],
  [
    'the ratio turned round',
    {
      file: ALGORITHMS,
      changes: [['ratio = torch.exp(now - old)', 'ratio = torch.exp(old - now)']],
      ids: ['loss/equals-the-declared-formula'],
    },
  ],
  [
    'a critic trained on what a tool wrote',
    {
      file: CRITIC,
      changes: [
        [
          'return batch["info_mask"][:, batch["info_mask"].size(1) - width :]',
          'return batch["attention_mask"][:, batch["attention_mask"].size(1) - width :]',
        ],
      ],
      ids: ['value-loss/equals-the-reference', 'value-loss/gradient-exactly-where-the-mask-is'],
    },
  ],
])('finds: %s', (_, planted) => clone.finds(planted));

test('a trainer that has not all of it says which ops it lacks', async () => {
  const { results, out } = await clone.changed(
    { file: 'scripts/data_process/nq_search.py', changes: [['def make_prefix', 'def prefix']] },
    ['--cases', '5', '--seed', '1'],
  );
  expect(having(results, ...FAILING), out).toEqual([]);
  expect(out).toContain('search-r1 drives Search-R1 of no commit');
  expect(out).toMatch(/has no\s+make_prefix/);
});

clone.refusals();
