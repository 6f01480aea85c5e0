// The adapter of grpo-dual on a stand-in of its clone that is right, and on copies of it with the bugs that grpo-dual had.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { checked, having } from '../checked.ts';

const STANDIN = fileURLToPath(new URL('standins/grpo-dual', import.meta.url));
const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const WORDS = ['--adapter', 'grpo-dual', '--python', PYTHON];
const TRAINER = 'grpo-dual/src/grpo/trainer.py';

type Variables = Readonly<Record<string, string>>;

test('a right trainer fails nothing', async () => {
  const { results, out } = await checked([...WORDS, '--cases', '25', '--seed', '1'], {
    env: { LOSSPROOF_CHECKOUT: STANDIN },
  });
  expect(having(results, ...FAILING, 'known'), out).toEqual([]);
  expect(having(results, 'pass').length).toBeGreaterThanOrEqual(60);
});

test('doctor asks every op of it, and has no complaint', async () => {
  const main = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
  const { stdout, exitCode } = await execa(process.execPath, [main, 'doctor', ...WORDS], {
    env: { LOSSPROOF_CHECKOUT: STANDIN },
    reject: false,
  });
  for (const op of [
    'advantages',
    'extract',
    'kl',
    'loss',
    'mask',
    'penalties',
    'render',
    'rollout',
    'tokenize',
  ])
    expect(stdout).toMatch(new RegExp(`✓ ${op} +answers`));
  expect(exitCode, stdout).toBe(0);
});

interface Planted {
  /** Text of the stand-in, and what stands there instead. */
  readonly changes: readonly (readonly [string, string])[];
  readonly ids: readonly string[];
  readonly env?: Variables;
}

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
      env: {
        LOSSPROOF_TOKENIZER: join(PACKAGE_ROOT, 'src', 'tokenizers', 'families', 'llama3'),
      },
    },
  ],
])('finds: %s', async (_, { changes, ids, env = {} }) => {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof clone '));
  try {
    cpSync(STANDIN, folder, { recursive: true });
    let text = readFileSync(join(folder, TRAINER), 'utf8');
    for (const [right, wrong] of changes) {
      expect(text).toContain(right);
      text = text.replace(right, wrong);
    }
    writeFileSync(join(folder, TRAINER), text);
    const options = ['--only', ids.join(','), '--cases', '20', '--shrink-time', '0.5', '--seed', '1'];
    const { results, out } = await checked([...WORDS, ...options], {
      env: { LOSSPROOF_CHECKOUT: folder, ...env },
    });
    // The published trainer has some of them to this day.
    expect(having(results, 'fail', 'ask', 'known').sort(), out).toEqual([...ids].sort());
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a trainer that has not all of it says which ops it lacks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof clone '));
  try {
    cpSync(STANDIN, folder, { recursive: true });
    const text = readFileSync(join(folder, TRAINER), 'utf8');
    writeFileSync(
      join(folder, TRAINER),
      text.replaceAll('build_safe_logits_processors', 'processors').replaceAll('config.MU_UPDATES', '1'),
    );
    const { results, out } = await checked([...WORDS, '--cases', '5', '--seed', '1'], {
      env: { LOSSPROOF_CHECKOUT: folder },
    });
    expect(having(results, ...FAILING), out).toEqual([]);
    expect(out).toContain('grpo-dual of no commit has no build_safe_logits_processors');
    expect(out).toMatch(/has no line\s+`for _ in range\(config\.MU_UPDATES\):`/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each<[string, Variables, string]>([
  ['no clone is named', {}, 'LOSSPROOF_CHECKOUT names no folder: set it to a clone of'],
  ['the folder is no clone', { LOSSPROOF_CHECKOUT: tmpdir() }, 'is it a clone of'],
])('%s', async (_, env, sentence) => {
  const { exitCode, out } = await checked(WORDS, { env });
  // Lines of a trainer's stderr are broken, and have a rule in front.
  expect(out.replace(/\s*\n│ /g, ' ')).toContain(sentence);
  expect(exitCode).toBe(2);
});
