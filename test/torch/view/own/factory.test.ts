// `view --config` shows the rows of the installed LLaMA-Factory, those that its documented rules do not make among them.
import { describe, expect, test } from 'vitest';
import { python } from '../../sources/run.ts';
import { STARTING } from '../../trl/ask.ts';
import { TALKS } from '../compared.ts';
import { type Shown, shown } from './asked.ts';

const NAMES = ['role', 'content', 'user', 'assistant', 'observation', 'function', 'system'];
const ENTRY = {
  file_name: 'rows.jsonl',
  formatting: 'sharegpt',
  columns: { messages: 'messages' },
  tags: Object.fromEntries(NAMES.map((name) => [`${name}_tag`, name])),
};
const UNANSWERED = { messages: TALKS[0]?.messages.slice(0, 1) };

const seen = (
  rows: readonly unknown[],
  config: Readonly<Record<string, unknown>> = {},
  info: unknown = { rows: ENTRY },
  ...options: readonly string[]
): Promise<Shown> =>
  shown(
    {
      python: python('llama-factory'),
      stubs: ['peft', 'torchaudio', 'omegaconf', 'matplotlib', 'einops', 'av'],
      env: { DISABLE_VERSION_CHECK: '1' },
      config: {
        model_name_or_path: 'model',
        stage: 'sft',
        dataset: 'rows',
        template: 'qwen',
        bf16: true,
        ...config,
      },
      files: { 'data/rows.jsonl': rows, 'data/more.jsonl': TALKS, 'data/dataset_info.json': info },
    },
    ...options,
  );

describe('rows of the rules are those of the installed LLaMA-Factory', () => {
  test.each([
    ['some that it leaves out', [UNANSWERED, ...TALKS, UNANSWERED, ...TALKS], {}],
    ['packed, each by itself', TALKS, { packing: true, neat_packing: true, cutoff_len: 30 }],
    [
      'the last answers alone, of the first rows',
      [...TALKS, ...TALKS],
      { mask_history: true, max_samples: 3 },
    ],
    ['two data sets', TALKS, { dataset: 'rows,more', val_size: 0.5 }],
  ])(
    '%s',
    async (_, rows, config) => {
      const info = { rows: ENTRY, more: { ...ENTRY, file_name: 'more.jsonl' } };
      const own = await seen(rows, config, info);
      expect(own.assumed).toContain('rows by LLaMA-Factory 0.9.5 itself');
      expect(own.settings.filter(({ sentence }) => sentence.includes('otherwise'))).toEqual([]);
      const rules = await seen(rows, config, info, '--by-rules');
      expect(own.shown).toEqual(rules.shown);
      expect(own.code).toBe(rules.code);
    },
    STARTING,
  );
});

test(
  'a row with tools, which the rules do not make',
  async () => {
    const tools = JSON.stringify([
      { name: 'find', description: 'Finds.', parameters: { type: 'object', properties: {} } },
    ]);
    const info = { rows: { ...ENTRY, columns: { messages: 'messages', tools: 'tools' } } };
    const {
      code,
      settings,
      shown: rows,
    } = await seen(
      TALKS.map((talk) => ({ ...talk, tools })),
      {},
      info,
    );
    expect(settings).toContainEqual(
      expect.objectContaining({
        weight: 'note',
        sentence: expect.stringContaining('the rules do not make it'),
      }),
    );
    expect(rows.map(({ row, faults }) => [row, faults])).toEqual([
      [1, []],
      [2, []],
    ]);
    expect(code).toBe(0);
  },
  STARTING,
);
