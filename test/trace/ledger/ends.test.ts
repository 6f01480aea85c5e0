// The rules about what a template writes: answers that end without their stop token, supervised rows that are written
// otherwise than prompts, and passes of which nothing is trained.
import { describe, expect, test } from 'vitest';
import type { Ledger } from '../../../src/trace/ledger.ts';
import type { LedgerSketch, TrainedRowSketch } from '../traced.ts';
import { holds, judged, silent, worst } from './judged.ts';
import { tokenizer } from './tokens/rows.ts';

const STOP = 'tokenize/stop-token-is-trained';
const ANSWER = 'tokenize/answer-is-trained';
const ALIKE = 'tokenize/sft-and-rl-tokenize-the-same-prompt';

/** 0 pads, 2 ends turns, 3 and 4 open those of user and assistant, 5 is a line's end, 6 a system's header. */
const numbers = tokenizer({
  decode: (ids) => ids.map((id) => `word${id}`).join(''),
  specialIds: new Set([0, 1, 2, 3, 4, 6]),
});
const template: NonNullable<Ledger['template']> = {
  headers: [
    { name: 'assistant', marks: [4], whole: [4, 5] },
    { name: 'user', marks: [3], whole: [3, 5] },
    { name: 'system', marks: [6], whole: [6, 5] },
  ],
  closing: 2,
  stops: new Set([2]),
};
const sketch = (rows: readonly TrainedRowSketch[], more: Partial<LedgerSketch> = {}): LedgerSketch => ({
  rows: rows.map((row, at) => ({ row: at, ...row })),
  tokenizer: numbers,
  template,
  ...more,
});

/** A question of two words, and an answer of so many; with its stop token or without. */
const chat = (words: number, ended: boolean, more: Partial<TrainedRowSketch> = {}): TrainedRowSketch => ({
  ids: [
    3,
    5,
    40 + words,
    41,
    2,
    4,
    5,
    ...Array.from({ length: words }, (_, at) => 20 + at),
    ...(ended ? [2] : []),
  ],
  prompt: 7,
  ...more,
});

describe('answers without a stop token', () => {
  test('are found where no answer has one and the rows were not cut', () => {
    const finding = worst(STOP, sketch([chat(2, false), chat(3, false), chat(5, false)]));
    expect(finding.sentence).toContain(
      "ends without 'n2' (id 2): no answer of the script has its stop token",
    );
  });

  test('rows that were cut to one length, or answers to one, are told apart', () => {
    silent(STOP, sketch([chat(5, false), chat(5, false), chat(5, false)]));
    holds(STOP, sketch([chat(2, true), chat(3, true), chat(5, false)]));
    silent(STOP, sketch([chat(2, false), chat(5, false)]));
  });

  test('labels may go one further than the ids', () => {
    const behind = [2, 3, 5].map((words) => {
      const row = chat(words, false);
      return { ...row, at: { [row.ids.length]: { weight: 0.1, target: 2 } } };
    });
    silent(STOP, sketch(behind));
  });

  test('texts of a data set, and rows of a policy, are not blamed', () => {
    const of = (form: string) => ({ origin: { kind: 'dataset' as const, example: 1, form } });
    const rows = [2, 3, 5].map((words) => chat(words, false, { spans: of('prompt and completion') }));
    silent(STOP, sketch(rows));
    expect(judged(STOP, sketch(rows)).notices?.[0]?.sentence).toContain('is not taught to end');
    expect(worst(STOP, sketch(rows.map((row) => ({ ...row, spans: of('messages') })))).kind).toBe('no stop');
    const down = [2, 3, 5].map((words) => chat(words, false, { weight: -0.1 }));
    silent(STOP, sketch(down));
    // Of pairs, or of what was sampled where nobody saw it, it is asked.
    const both = [...[2, 3, 5].map((words) => chat(words, false)), ...down];
    silent(STOP, sketch(both));
    expect(judged(STOP, sketch(both)).notices?.[0]?.sentence).toContain('is not taught to end');
  });
});

describe('supervised rows beside prompts', () => {
  const rows = [chat(2, true), chat(3, true)];
  const asked = (promptIds: readonly number[]) => ({ promptIds, completionIds: [30, 2] });
  const generations = [asked([3, 5, 50, 51, 2, 4, 5]), asked([3, 5, 52, 53, 2, 4, 5])];

  test('hold where they are written alike', () => {
    holds(ALIKE, sketch(rows, { generations }));
    silent(ALIKE, sketch(rows));
    silent(ALIKE, { ...sketch(rows, { generations }), template: undefined });
  });

  test('prompts without the header that opens an answer', () => {
    const bare = generations.map(({ promptIds }) => asked(promptIds.slice(0, -2)));
    expect(worst(ALIKE, sketch(rows, { generations: bare })).sentence).toContain('end without the header');
  });

  test('rows without the template: found with the same words, and said with others', () => {
    const origin = { origin: { kind: 'text' as const } };
    const text = (ids: readonly number[]) => ({ ids, prompt: 1, spans: origin });
    const same = sketch([text([50, 51, 60, 61]), text([70, 71, 72])], { generations });
    expect(worst(ALIKE, same).sentence).toMatch(/without the chat template.*with the same words/);
    const other = sketch([text([80, 81, 60, 61])], { generations });
    silent(ALIKE, other, 'the difference to the prompts may be meant');
    expect(judged(ALIKE, other).notices?.[0]?.sentence).toContain('other prompts than those that are asked');
    const inverse = sketch(rows, { generations: [asked([42, 41, 7])] });
    expect(worst(ALIKE, inverse).sentence).toContain(
      'the prompts of generate() without it, with the same words',
    );
    const others = sketch(rows, { generations: [asked([90, 91, 7])] });
    expect(judged(ALIKE, others).notices?.[0]?.sentence).toContain('the prompts of generate() without it');
  });

  test('another number of BOS, another system message, a thought that is opened', () => {
    const bos = generations.map(({ promptIds }) => asked([1, ...promptIds]));
    expect(worst(ALIKE, sketch(rows, { generations: bos })).sentence).toContain(
      'begin with 1 BOS, and the supervised rows with 0',
    );
    const system = generations.map(({ promptIds }) => asked([6, 5, 90, 2, ...promptIds]));
    expect(judged(ALIKE, sketch(rows, { generations: system })).notices?.[0]?.sentence).toContain(
      'another system message',
    );
    const thought = generations.map(({ promptIds }) => asked([...promptIds, 95, 96]));
    expect(judged(ALIKE, sketch(rows, { generations: thought })).notices?.[0]?.sentence).toContain(
      'what is prefilled there',
    );
  });

  test('rows of a policy say nothing', () => {
    silent(
      ALIKE,
      sketch([chat(2, true), chat(3, true, { weight: -0.1 })], { generations: [asked([42, 41, 7])] }),
    );
  });
});

describe('a forward pass of which nothing is trained', () => {
  const idle = (forward: number, count: number): TrainedRowSketch[] =>
    Array.from({ length: count }, (_, at) => chat(2 + at, true, { forward, trained: [] }));
  const live = (forward: number, weight = 0.1): TrainedRowSketch[] => [chat(2, true, { forward, weight })];

  test('is an early stop where something is pushed down, or sampled', () => {
    const rows = [...live(0), ...live(0, -0.1), ...idle(1, 2)];
    holds(ANSWER, sketch(rows));
    expect(judged(ANSWER, sketch(rows)).notices).toBeUndefined();
    holds(ANSWER, sketch([...live(0), ...live(0, -0.1), ...idle(1, 1)]));
  });

  test('is worth a word in supervised training, and a single row there is one like any other', () => {
    const rows = [...live(0), ...idle(1, 2)];
    holds(ANSWER, sketch(rows));
    expect(judged(ANSWER, sketch(rows)).notices?.[0]?.sentence).toContain(
      'multiplied by 0, or all of its labels',
    );
    expect(worst(ANSWER, sketch([...live(0), ...idle(1, 1)])).kind).toBe('left out');
  });

  test('a row without a gradient in a pass that trains others is still left out', () => {
    const rows = [...live(0), ...idle(0, 1)];
    expect(worst(ANSWER, sketch(rows)).kind).toBe('left out');
  });
});
