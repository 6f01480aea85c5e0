// The adapter of PriorZero on a stand-in of its clone that is right, and on copies of it with the bugs that PriorZero had.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { FAILING } from '../../../src/index.ts';
import { PACKAGE_ROOT } from '../../../src/version.ts';
import { checked, having } from '../checked.ts';

const STANDIN = fileURLToPath(new URL('standins/priorzero', import.meta.url));
const PYTHON = join(PACKAGE_ROOT, '.venv', 'bin', 'python');
const WORDS = ['--adapter', 'priorzero', '--python', PYTHON];
const POLICY = 'zoo/jericho/priorzero/priorzero_policy.py';
const PIPELINE = 'zoo/jericho/priorzero/priorzero_orz_complete.py';

type Variables = Readonly<Record<string, string>>;

const family = (name: string): Variables => ({
  LOSSPROOF_TOKENIZER: join(PACKAGE_ROOT, 'src', 'tokenizers', 'families', name),
});

test('a right trainer fails nothing', async () => {
  const { results, out } = await checked([...WORDS, '--cases', '25', '--seed', '1'], {
    env: { LOSSPROOF_CHECKOUT: STANDIN },
  });
  expect(having(results, ...FAILING, 'known'), out).toEqual([]);
  expect(having(results, 'pass').length).toBeGreaterThanOrEqual(35);
});

test('doctor asks every op of it, and has no complaint', async () => {
  const main = join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'main.js');
  const { stdout, exitCode } = await execa(process.execPath, [main, 'doctor', ...WORDS], {
    env: { LOSSPROOF_CHECKOUT: STANDIN },
    reject: false,
  });
  for (const op of ['contract', 'mask', 'schedule', 'sft_loss', 'tokenize', 'train_step', 'unroll'])
    expect(stdout).toMatch(new RegExp(`✓ ${op} +answers`));
  expect(exitCode).toBe(0);
});

interface Planted {
  readonly file?: string;
  /** Text of the stand-in, and what stands there instead. */
  readonly changes: readonly (readonly [string, string])[];
  readonly ids: readonly string[];
  readonly env?: Variables;
}

const ENCODED = 'padding=True, add_special_tokens=False, return_tensors="pt"';

test.each<[string, Planted]>([
  [
    'a batch of three without segments',
    {
      changes: [
        [
          'current_batch, target_batch, game_segments = data\n        else',
          'current_batch, target_batch, train_iter = data\n            game_segments = None\n        else',
        ],
      ],
      ids: ['contract/every-enabled-loss-runs', 'contract/orders-train-the-same'],
    },
  ],
  [
    'one reward has no deviation, and no_grad',
    {
      changes: [
        ['        if len(rows) > 1:\n            rewards =', '        rewards ='],
        [
          'attention_mask=inputs.attention_mask)\n        trained',
          'attention_mask=inputs.attention_mask)\n        outputs.logits = outputs["logits"] = outputs.logits.detach()\n        trained',
        ],
      ],
      ids: ['contract/every-enabled-loss-is-reported', 'contract/every-enabled-loss-trains-tokens'],
    },
  ],
  [
    'labels from the left edge, a loss divided by the configuration, actions as a mask',
    {
      changes: [
        ['labels[i, : padding + prompt_len]', 'labels[i, :prompt_len]'],
        ['return outputs.loss', 'return outputs.loss / self.llm_policy_cfg.llm_gradient_accumulation_steps'],
        [
          'observations, actions, bootstraps, mask, indices, weights, made, times = current_batch',
          'observations, actions, mask, indices, weights, made = current_batch[:6]',
        ],
        ['mask[:, :-1] == 1.0', 'mask == 1.0'],
      ],
      ids: [
        'mask/prompt-is-never-trained',
        'mask/independent-of-batch-mates',
        'sft-loss/equals-the-reference',
        'segments/unrolled-mask-marks-the-steps',
      ],
    },
  ],
  [
    'the stop masked as padding, two BOS',
    {
      changes: [
        ['inputs.attention_mask == 0, -100', 'inputs.input_ids == self.llm_tokenizer.pad_token_id, -100'],
        [ENCODED, 'padding=True, return_tensors="pt"'],
      ],
      ids: ['mask/stop-token-is-trained-once', 'tokenize/exactly-the-right-number-of-bos'],
      env: family('mistral'),
    },
  ],
  [
    'prompts alone',
    {
      changes: [['row["prompt"] + row[answer] + self.llm_tokenizer.eos_token', 'row["prompt"]']],
      ids: ['mask/row-holds-prompt-and-completion'],
      env: { LOSSPROOF_ROUTE: 'rft' },
    },
  ],
  [
    'a pipeline that reads none of its settings',
    {
      file: PIPELINE,
      changes: [
        ['if hybrid_cfg.wm_training_mode == "alternating":', 'if False:'],
        ['"llm": hybrid_cfg.llm_train_freq', '"llm": hybrid_cfg.wm_train_freq'],
        [
          'if installed and "llm" in losses:',
          'if installed and orz_trainer is not None and "llm" in losses:',
        ],
      ],
      ids: [
        'schedule/alternating-takes-turns',
        'schedule/frequencies-are-honoured',
        'schedule/installed-trainers-are-used',
      ],
    },
  ],
])('finds: %s', async (_, { file = POLICY, changes, ids, env = {} }) => {
  const folder = mkdtempSync(join(tmpdir(), 'lossproof clone '));
  try {
    cpSync(STANDIN, folder, { recursive: true });
    let text = readFileSync(join(folder, file), 'utf8');
    for (const [right, wrong] of changes) {
      expect(text).toContain(right);
      text = text.replace(right, wrong);
    }
    writeFileSync(join(folder, file), text);
    const options = ['--only', ids.join(','), '--cases', '20', '--shrink-time', '0.5', '--seed', '1'];
    const { results, out } = await checked([...WORDS, ...options], {
      env: { LOSSPROOF_CHECKOUT: folder, ...env },
    });
    // The released trainer has some of them to this day.
    expect(having(results, 'fail', 'known').sort(), out).toEqual([...ids].sort());
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each<[string, Variables, string]>([
  ['no clone is named', {}, 'LOSSPROOF_CHECKOUT names no folder: set it to a clone of'],
  ['the folder is no clone', { LOSSPROOF_CHECKOUT: tmpdir() }, 'is it a clone of'],
])('%s', async (_, env, sentence) => {
  const { exitCode, out } = await checked(WORDS, { env });
  expect(out).toContain(sentence);
  expect(exitCode).toBe(2);
});
