// `view --config` shows the rows of the installed axolotl.
import { describe, expect, test } from 'vitest';
import { STARTING } from '../trl/ask.ts';
import { type Shown, shown } from './asked.ts';
import { TALKS } from './compared.ts';
import { pythonIn } from './rows.ts';

const CHAT = { path: 'rows.jsonl', type: 'chat_template' };
const LONG = {
  messages: [{ role: 'user', content: 'word '.repeat(90) }, ...(TALKS[0]?.messages.slice(1) ?? [])],
};

const seen = (
  rows: readonly unknown[],
  config: Readonly<Record<string, unknown>>,
  ...options: readonly string[]
): Promise<Shown> =>
  shown(
    {
      python: pythonIn('.venv-sources'),
      stubbing: '_axolotl_stubs',
      config: {
        base_model: 'model',
        micro_batch_size: 1,
        gradient_accumulation_steps: 1,
        learning_rate: 0.0001,
        datasets: [CHAT],
        ...config,
      },
      files: { 'rows.jsonl': rows, 'more.jsonl': TALKS },
    },
    ...options,
  );

describe('rows of the rules are those of the installed axolotl', () => {
  test.each([
    ['two data sets', TALKS, { datasets: [CHAT, { ...CHAT, path: 'more.jsonl', roles_to_train: ['user'] }] }],
    ['a long row between others, which is dropped', [...TALKS, LONG, ...TALKS], { sequence_len: 90 }],
    [
      'rows that are cut',
      [LONG],
      { sequence_len: 30, excess_length_strategy: 'truncate', train_on_inputs: true },
    ],
  ])(
    '%s',
    async (_, rows, config) => {
      const own = await seen(rows, config);
      expect(own.assumed).toContain('rows by axolotl 0.19.0 itself');
      expect(own.settings.filter(({ sentence }) => sentence.includes('otherwise'))).toEqual([]);
      const rules = await seen(rows, config, '--by-rules');
      expect(own.shown).toEqual(rules.shown);
      expect(own.code).toBe(rules.code);
    },
    STARTING,
  );
});
