// `view --config` shows the rows of the installed TRL, and names what its documented rules read otherwise.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { familyFolder } from '../../../src/tokenizers/load.ts';
import { makeWorld } from '../../cli/world.ts';
import { STARTING } from '../trl/ask.ts';
import { pythonOf, type Which } from '../trl/versions.ts';
import { TALKS } from './compared.ts';

const PAIRS = [
  { prompt: 'The sky is', completion: ' blue.' },
  { prompt: 'Once upon', completion: ' a time, and ever after.' },
];
const MIXTURE = { datasets: [{ path: 'json', data_files: './rows.jsonl' }] };

interface Seen {
  readonly code: number;
  readonly assumed: string;
  readonly settings: readonly { readonly key: string; readonly weight: string; readonly sentence: string }[];
  readonly shown: readonly { readonly faults: readonly { readonly id: string }[] }[];
}

async function seen(
  which: Which,
  rows: readonly unknown[],
  config: Readonly<Record<string, unknown>>,
  ...options: readonly string[]
): Promise<Seen> {
  const world = makeWorld();
  cpSync(familyFolder('qwen'), join(world.folder, 'model'), { recursive: true });
  mkdirSync(join(world.folder, 'data'));
  const lines = rows.map((row) => JSON.stringify(row)).join('\n');
  world.write('rows.jsonl', lines);
  world.write('data/train.jsonl', lines);
  world.write('train.yaml', JSON.stringify({ model_name_or_path: 'model', bf16: true, ...config }));
  const words = ['--config', 'train.yaml', '--python', pythonOf(which), '--all', '--json', ...options];
  const code = await world.run('view', ...words);
  expect(world.err()).toBe('');
  const { assumed, settings, shown } = JSON.parse(world.out());
  return { code, assumed: assumed.join('\n'), settings, shown };
}

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
    const { code, assumed, settings, shown } = await seen('oldest', PAIRS, {
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
    const ids = shown.map(({ faults }) => faults.map(({ id }) => id));
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
