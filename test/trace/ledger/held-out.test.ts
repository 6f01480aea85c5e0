// Rows that are evaluated and trained, and rows that are longer than what the trainer's arguments declare.
import { describe, expect, test } from 'vitest';
import type { LedgerSketch } from '../traced.ts';
import { holds, judged, silent } from './judged.ts';

type Scored = NonNullable<LedgerSketch['scored']>[number];

const long = (token: number): number[] => [5, 6, 7, 8, 9, 10, 11, token, 2];

describe('evaluated rows', () => {
  const ID = 'loader/evaluated-rows-are-not-trained';
  const rows = [20, 21].map((token) => ({ ids: long(token) }));
  const evaluated = (token: number, more: Partial<Scored> = {}): Scored => ({
    ids: long(token),
    forward: 9,
    by: 'policy',
    training: false,
    labelled: true,
    ...more,
  });

  test('are a notice where all of them are trained, whatever their padding', () => {
    const { notices } = judged(ID, { rows, scored: [evaluated(20), evaluated(21, { right: 3 })] });
    expect(notices).toHaveLength(1);
    expect(notices?.[0]?.sentence).toContain('All 2 rows that are evaluated are trained as well');
    expect(notices?.[0]).not.toHaveProperty('remark');
    silent(ID, { rows, scored: [evaluated(20)] }, 'the row is trained, too, and may be evaluated on purpose');
  });

  test('are a remark where some of them are, and count where they are not', () => {
    const { notices, judged: count } = judged(ID, { rows, scored: [evaluated(20), evaluated(30)] });
    expect(notices).toMatchObject([{ remark: true }]);
    expect(count).toBe(1);
    holds(ID, { rows, scored: [evaluated(30)] });
  });

  test.each<[what: string, scored: Scored]>([
    ['of the reference', evaluated(20, { by: 'reference' })],
    ['in training mode', evaluated(20, { training: true })],
    ['of few tokens', evaluated(20, { ids: [5, 20, 2] })],
  ])('are none: a pass %s', (_what, scored) => {
    silent(ID, { rows: [...rows, { ids: [5, 20, 2] }], scored: [scored] });
  });

  test('are none without labels: rows are scored before they are trained', () => {
    const { labelled: _, ...scored } = evaluated(20);
    silent(ID, { rows, scored: [scored] });
  });
});

describe('a declared length', () => {
  const ID = 'trace/rows-fit-the-declared-length';
  const settings = (trainer: string, values: object) => ({ settings: { trainer, values: { ...values } } });
  const sft = (values: object) => settings('SFTTrainer', values);
  const rows = [{ ids: long(20) }];

  test('is asked about where a row is longer, padding aside', () => {
    const { notices } = judged(ID, { rows, ...sft({ max_length: 8 }) });
    expect(notices).toMatchObject([{ asked: true }]);
    expect(notices?.[0]?.sentence).toContain(
      '1 trained row is longer than max_length=8: step 0, row 0 has 9 tokens',
    );
    holds(ID, { rows: [{ ids: long(20), right: 7 }], ...sft({ max_length: 9 }) });
  });

  test('is that of each example where several stand in a row', () => {
    const packed = {
      ids: [...long(20), ...long(21)],
      positions: [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8],
    };
    holds(ID, { rows: [packed], ...sft({ max_length: 9 }) });
    expect(judged(ID, { rows: [packed], ...sft({ max_length: 8 }) }).notices).toHaveLength(1);
    silent(
      ID,
      { rows: [{ ids: packed.ids }], ...sft({ max_length: 9, padding_free: true }) },
      'how long the row is cannot be told',
    );
  });

  test('is a remark where nobody need have written it', () => {
    const ids = Array.from({ length: 1025 }, (_, at) => 5 + (at % 9));
    expect(judged(ID, { rows: [{ ids }], ...sft({ max_length: 1024 }) }).notices).toMatchObject([
      { remark: true },
    ]);
  });

  test('is that of completions in GRPO, unless the sampler is given another', () => {
    const spans = { origin: { kind: 'generation' as const, generations: [0] } };
    const sampled = [{ ids: long(20), prompt: 3, spans }];
    holds(ID, { rows: sampled, ...settings('GRPOTrainer', { max_completion_length: 6 }) });
    const said = (values: object) =>
      judged(ID, { rows: sampled, ...settings('GRPOTrainer', values) }).notices;
    expect(said({ max_completion_length: 5 })).toMatchObject([{ asked: true }]);
    const generation_kwargs = { max_new_tokens: 9 };
    expect(said({ max_completion_length: 5, generation_kwargs })).toMatchObject([{ remark: true }]);
  });

  test('is none without a limit, or of an unknown trainer', () => {
    silent(ID, { rows, ...sft({ max_length: null }) });
    silent(ID, { rows, ...settings('Trainer', { max_length: 2 }) });
  });
});
