// The adapter of grpo-dual on a stand-in of its clone that is right, and on copies of it with the bugs that grpo-dual had.
import { expect, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { having } from '../checked.ts';
import { cloneOf, family, type Planted } from './clones.ts';

const clone = cloneOf('grpo-dual', 'grpo-dual/src/grpo/trainer.py');

test('a right trainer fails nothing', () => clone.holds(60));

test('doctor asks every op of it, and has no complaint', () =>
  clone.answers([
    'advantages',
    'extract',
    'kl',
    'loss',
    'mask',
    'penalties',
    'render',
    'rollout',
    'tokenize',
  ]));

test.each<[string, Planted]>([
  [
    'penalties that count the prompt',
    {
      changes: [['said = input_ids[:, self.prompt_len :]', 'said = input_ids']],
      ids: [
        'penalties/first-step-ignores-the-prompt',
        'penalties/equal-the-definition',
        'penalties/padding-is-not-counted',
      ],
    },
  ],
  [
    'fine-tuning without the template',
    {
      changes: [
        ['    before = apply_chat_template(tokenizer, prompt, SYSTEM)\n', '    before = prompt + "\\n\\n"\n'],
        [
          'whole = apply_chat_template(tokenizer, prompt, SYSTEM, answer=target)',
          'whole = before + target + tokenizer.eos_token',
        ],
      ],
      ids: ['render/sft-and-rl-render-the-same-prompt', 'tokenize/sft-and-rl-tokenize-the-same-prompt'],
    },
  ],
  [
    'another prompt scored than generated from',
    {
      changes: [['all_prompts += [formatted_prompts[i]]', 'all_prompts += [s.prompt]']],
      ids: ['rollout/scored-prompt-is-the-prompt-generated-from'],
    },
  ],
  [
    'completions cut out at the length of the prompt',
    {
      changes: [['[inputs["input_ids"].shape[1]] * len(rows)', 'inputs["attention_mask"].sum(1).tolist()']],
      ids: ['extract/exact-under-left-padding', 'extract/independent-of-batch-mates'],
    },
  ],
  [
    'a mask counted from the left edge',
    {
      changes: [['        end = T\n', '        end = int(full["attention_mask"][i].sum())\n']],
      ids: [
        'mask/prompt-is-never-trained',
        'mask/padding-is-never-trained',
        'mask/every-completion-token-is-trained',
        'mask/independent-of-batch-mates',
      ],
    },
  ],
  [
    'completions handed on as text without their stop',
    {
      changes: [
        ['Said(tokenizer.decode(said[:stop]))', 'Said(tokenizer.decode(said, skip_special_tokens=True))'],
        [
          'answers = [encode(each) if getattr(each, "ids", None) is None else each.ids',
          'answers = [encode(each)',
        ],
      ],
      ids: ['rollout/scored-ids-are-sampled-ids', 'rollout/mask-covers-the-sampled-tokens'],
    },
  ],
  [
    'the KL of the mean log-ratio, and a gradient that is not that of the loss',
    {
      changes: [
        [
          'kl = mean_of(torch.exp(delta) - delta - 1.0, comp_mask)',
          'delta = mean_of(delta, comp_mask)\n            kl = torch.exp(delta) - delta - 1.0',
        ],
        ['parameter.grad = grad if', 'parameter.grad = 2 * grad if'],
      ],
      ids: ['kl/equals-the-estimator', 'loss/weights-are-the-slope-of-the-loss'],
    },
  ],
  [
    'two BOS',
    {
      changes: [
        [
          'inputs = tokenizer(rows, return_tensors="pt", padding=True, add_special_tokens=False)',
          'inputs = tokenizer(rows, return_tensors="pt", padding=True)',
        ],
      ],
      ids: ['tokenize/exactly-the-right-number-of-bos'],
      env: family('llama3'),
    },
  ],
])('finds: %s', (_, planted) => clone.finds(planted));

test('a trainer that has not all of it says which ops it lacks', async () => {
  const { results, out } = await clone.changed(
    {
      changes: [
        ['build_safe_logits_processors', 'processors'],
        ['config.MU_UPDATES', '1'],
      ],
    },
    ['--cases', '5', '--seed', '1'],
    true,
  );
  expect(having(results, ...FAILING), out).toEqual([]);
  expect(out).toContain('grpo-dual of no commit has no build_safe_logits_processors');
  expect(out).toMatch(/has no line\s+`for _ in range\(config\.MU_UPDATES\):`/);
});

clone.refusals();
