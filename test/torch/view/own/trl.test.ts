// `view --config` shows the rows of the installed TRL, and names what its documented rules read otherwise.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { STARTING } from '../../trl/ask.ts';
import { pythonOf, type Which } from '../../trl/versions.ts';
import { TALKS } from '../compared.ts';
import { type Shown, shown } from './asked.ts';

const PAIRS = [
  { prompt: 'The sky is', completion: ' blue.' },
  { prompt: 'Once upon', completion: ' a time, and ever after.' },
];
const MIXTURE = { datasets: [{ path: 'json', data_files: './rows.jsonl' }] };

const seen = (
  which: Which,
  rows: readonly unknown[],
  config: Readonly<Record<string, unknown>>,
  ...options: readonly string[]
): Promise<Shown> =>
  shown(
    {
      python: pythonOf(which),
      config: { model_name_or_path: 'model', bf16: true, ...config },
      files: { 'rows.jsonl': rows, 'data/train.jsonl': rows },
    },
    ...options,
  );

describe('rows of the rules are those of the installed TRL', () => {
  test.each([
    ['messages', TALKS, { max_length: 20 }],
    ['pairs with the other end cut', PAIRS, { max_length: 6, truncation_mode: 'keep_end' }],
    ['packed rows, each by itself', TALKS, { max_length: 24, packing: true }],
    ['packed rows that are wrapped', TALKS, { max_length: 8, packing: true, packing_strategy: 'wrapped' }],
    ['chosen columns', TALKS, { datasets: [{ ...MIXTURE.datasets[0], columns: ['messages'] }] }],
  ])(
    '%s',
    async (_, rows, config) => {
      const own = await seen('newest', rows, { ...MIXTURE, ...config });
      expect(own.assumed).toContain('rows by TRL 1.13.0 itself');
      expect(own.settings.filter(({ sentence }) => sentence.includes('otherwise'))).toEqual([]);
      const rules = await seen('newest', rows, { ...MIXTURE, ...config }, '--by-rules');
      expect(rules.assumed).toContain('the trainer itself was not asked (--by-rules)');
      expect(own.shown).toEqual(rules.shown);
      expect(own.code).toBe(rules.code);
    },
    STARTING * 2,
  );
});

test(
  'an older TRL that trains prompts, and names its length otherwise',
  async () => {
    const {
      code,
      assumed,
      settings,
      shown: rows,
    } = await seen('oldest', PAIRS, {
      dataset_name: './data',
      max_seq_length: 9,
    });
    expect(assumed).toContain('rows by TRL 0.15.2 itself');
    expect(settings).toContainEqual(
      expect.objectContaining({
        key: 'max_seq_length',
        weight: 'note',
        sentence: expect.stringContaining('installed TRL 0.15.2 has this key'),
      }),
    );
    const unlike = settings.filter(({ sentence }) => sentence.includes('makes 2 of 2 rows otherwise'));
    expect(unlike).toHaveLength(1);
    const ids = rows.map(({ faults }) => faults.map(({ id }) => id));
    expect(ids).toEqual([
      expect.arrayContaining(['everything-trained', 'cut']),
      expect.arrayContaining(['everything-trained', 'cut']),
    ]);
    expect(code).toBe(1);
  },
  STARTING,
);

test(
  'a configuration that TRL refuses: its reason, and the rules',
  async () => {
    const { code, assumed } = await seen('newest', TALKS, { ...MIXTURE, max_lenght: 20 });
    expect(assumed).toContain('makes no rows of this configuration: ValueError: accelerate launch:');
    expect(assumed).toContain('rows by the documented rules of TRL 1.13.0');
    expect(code).toBe(1);
  },
  STARTING,
);

test(
  'answers alone, by a training template of TRL, which the rules do not have',
  async () => {
    const config = { ...MIXTURE, assistant_only_loss: true, chat_template_path: trlTemplate('qwen2_5') };
    const { code, assumed, settings, shown: rows } = await seen('newest', TALKS, config);
    expect(assumed).toContain('rows by TRL 1.13.0 itself');
    expect(settings).toEqual([]);
    const trained = rows.map(({ parts }) => parts.map((part) => (part.trained ? part.text : '')).join(''));
    expect(trained).toEqual(['⏎Hello␠there!<|im_end|>⏎', '⏎Yes.<|im_end|>⏎⏎No.⏎Not␠at␠all.<|im_end|>⏎']);
    expect(code).toBe(0);
  },
  STARTING,
);

/** The file of a template that TRL brings, in the environment of the newest one. */
function trlTemplate(name: string): string {
  const lib = join(pythonOf('newest'), '..', '..', 'lib');
  const [python = ''] = readdirSync(lib).filter((each) => each.startsWith('python'));
  return join(lib, python, 'site-packages', 'trl', 'chat_templates', `${name}.jinja`);
}
