// Dropout where nothing is trained: asked about in an evaluation, and wrong where log-probabilities are compared with.
import { describe, expect, test } from 'vitest';
import type { LedgerSketch } from '../traced.ts';
import { holds, judged, silent, worst } from './judged.ts';

type Scored = NonNullable<LedgerSketch['scored']>[number];

const row = (token: number, step = 0) => ({ ids: [5, 6, token, 2], step, forward: step });
const TRAINED = [row(7), row(8, 1)];
const evaluated = (more: Partial<Scored> = {}): Scored => ({
  ...row(9, 1),
  forward: 5,
  by: 'policy',
  training: false,
  ...more,
});

describe('an evaluation', () => {
  const ID = 'update/evaluation-is-without-dropout';
  const said = (...scored: readonly Scored[]) => judged(ID, { rows: TRAINED, scored });

  test.each<[what: string, words: string, more: Partial<Scored>]>([
    ['in training mode', 'in training mode, with dropout of 0.1', { training: true }],
    ['in training mode, before the first step', 'before step 0', { training: true, labelled: true, step: 0 }],
    ['with dropout by a function', 'F.dropout needs training=self.training', { training: false }],
  ])('%s is asked about', (_what, words, more) => {
    const { notices = [] } = said(evaluated({ dropout: 0.1, ...more }));
    expect(notices).toMatchObject([{ asked: true }]);
    expect(notices[0]?.sentence).toContain(words);
  });

  test('without dropout is right, and counts', () => {
    holds(ID, { rows: TRAINED, scored: [evaluated()] });
    expect(said(evaluated()).notices).toBeUndefined();
  });

  test.each<[what: string, scored: readonly Scored[]]>([
    ['of the reference', [evaluated({ dropout: 0.1, by: 'reference' })]],
    ['of what its step trains', [evaluated({ dropout: 0.1, ...row(8, 1) })]],
    ['before the first step, without labels', [evaluated({ dropout: 0.1, step: 0 })]],
    [
      'that each step needs',
      [evaluated({ dropout: 0.1, training: true, step: 0 }), evaluated({ dropout: 0.1, training: true })],
    ],
  ])('is not taken for one: a pass %s', (_what, scored) => {
    silent(ID, { rows: TRAINED, scored });
  });

  test('is not taken for one: samples that are scored', () => {
    const generations = [{ promptIds: [5], completionIds: [6, 9, 2] }];
    silent(ID, { rows: TRAINED, scored: [evaluated({ dropout: 0.1 })], generations });
  });
});

describe('scoring', () => {
  const ID = 'update/scoring-is-without-dropout';
  const rows = TRAINED.map((each) => ({ ...each, logprobs: [Number.NaN, -1, -2, -3] }));
  const scored = rows.map(
    (each): Scored => ({
      ...each,
      by: 'policy',
      training: true,
      dropout: 0.1,
      logprobs: [Number.NaN, -1, -2, -4],
    }),
  );

  test('of all rows with dropout is wrong', () => {
    expect(worst(ID, { rows, scored }).sentence).toContain('in training mode, with dropout of 0.1');
    const inEvaluation = scored.map((each) => ({ ...each, training: false }));
    expect(worst(ID, { rows, scored: inEvaluation }).sentence).toContain(
      'in evaluation mode, with dropout of 0.1',
    );
  });

  test('of one batch that is only tried out is no scoring', () => {
    silent(ID, { rows, scored: scored.slice(0, 1) }, 'few of the trained rows were scored by the policy');
  });
});
