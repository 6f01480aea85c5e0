// A traced run as lines and as a page: which rows come first, what is marked in them, what is never marked.
import { describe, expect, test } from 'vitest';
import { tracePage } from '../../src/report/html/trace/trace.ts';
import { PLAIN } from '../../src/report/text/paint.ts';
import { widthOf } from '../../src/report/text/visible.ts';
import { rowsToShow, stripOfRow } from '../../src/report/trace/rows.ts';
import { stepSums } from '../../src/report/trace/steps.ts';
import { seenLines, seenWords, traceRowLines } from '../../src/report/trace/trace.ts';
import { ledgerOf, rankStep } from '../trace/traced.ts';
import { tracedLedger, tracedRun } from './traced-run.ts';

const WRONG = tracedLedger();
const RIGHT = tracedLedger({ right: true });
const FAILS = tracedRun(WRONG, true).results;
const HOLDS = tracedRun(RIGHT, false).results;
const PRINT = { width: 100, paint: PLAIN, most: undefined, full: false };

describe('the rows that are shown', () => {
  test('are those with something wrong, then one of each kind, then the others', () => {
    const shown = rowsToShow(WRONG, FAILS);
    expect(shown.map(({ row }) => `${row.step}.${row.row}`)).toEqual([
      '0.1',
      '0.2',
      '0.3',
      '0.0',
      '1.0',
      '1.2',
      '1.1',
    ]);
    expect(shown.filter(({ first }) => first)).toHaveLength(6);
    expect(shown.map(({ marks }) => marks.length > 0)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  test('have no mark where every property holds, whatever stands in them', () => {
    expect(rowsToShow(WRONG, HOLDS).flatMap(({ marks }) => marks)).toEqual([]);
  });

  test('are not blamed for a sampled token without a gradient: a clipped ratio has none', () => {
    const sampled = ledgerOf({
      rows: [
        { ids: [5, 6, 7, 2], at: { 2: null }, spans: { origin: { kind: 'generation', generations: [0] } } },
      ],
    });
    expect(rowsToShow(sampled, FAILS).flatMap(({ marks }) => marks)).toEqual([]);
  });

  test('are the same once: what comes again in the next step is not told first', () => {
    const row = { ids: [5, 6, 7, 2], prompt: 2, at: { 1: 0.5 } };
    const again = ledgerOf({ rows: [row, { ...row, step: 1 }, { ...row, step: 2 }] });
    expect(rowsToShow(again, FAILS).map(({ first }) => first)).toEqual([true, false, false]);
  });
});

describe('a row', () => {
  test('has a column more where something behind its end was trained', () => {
    const [row] = ledgerOf({ rows: [{ ids: [5, 6, 7], at: { 3: { target: 9, weight: 0.25 } } }] }).rows;
    if (row === undefined) throw new Error('no row');
    const strip = stripOfRow({ row, marks: [3] }, undefined);
    expect(strip.tokens.at(-1)).toEqual({ text: '(end)', role: 'padding' });
    expect(strip.tracks.map(({ cells }) => cells.at(-1))).toEqual(['t9', '0.25', '·']);
  });

  test('says ? for what was trained and not measured, and nothing for what was not trained', () => {
    const [row] = ledgerOf({
      rows: [{ ids: [5, 6, 7], at: { 1: { target: undefined, weight: undefined }, 2: null } }],
    }).rows;
    if (row === undefined) throw new Error('no row');
    const { tracks } = stripOfRow({ row, marks: [] }, undefined);
    expect(tracks.map(({ cells }) => cells.slice(1))).toEqual([
      ['?', '·'],
      ['?', '·'],
      ['trained', 'trained'],
    ]);
  });

  test('leaves out the pads behind its tokens, and counts them', () => {
    const text = traceRowLines(WRONG, FAILS, { ...PRINT, most: 2 }).join('\n');
    expect(text).toContain('6 pads behind them');
    expect(text).not.toContain('<|endoftext|>');
  });
});

describe('what was seen', () => {
  test('is told of each model and each step', () => {
    const text = seenLines(WRONG, PRINT).join('\n');
    expect(text).toContain('seen: 1 process · torch 2.13.0 · transformers 5.18.0 · trl 1.13.0');
    expect(text).toContain('model 1    LlamaForCausalLM, 10,000 parameters, float32');
    expect(text).toContain('rotary positions, frozen');
    expect(text).toContain('settings   SFTConfig(assistant_only_loss=True)');
    expect(text).toMatch(
      /step 0 {5}4 rows, 25 of 150 tokens trained · weights sum to [\d.]+ · gradient norm 1/,
    );
    expect(seenWords(WRONG)).toBe('2 steps, 7 rows, 37 tokens trained');
  });

  test('is told of a step that was never made, and of one that changed nothing', () => {
    const dead = { ...rankStep(0), done: { gradientNorm: 0, changed: false, learningRates: [1] } };
    const ledger = ledgerOf({
      rows: [{ ids: [5, 6, 2] }, { ids: [5, 6, 2], step: 1 }],
      steps: [
        { index: 0, ranks: [dead] },
        { index: 1, ranks: [{ rank: 0, optimizer: 'SGD' }] },
      ],
    });
    const text = seenLines(ledger, PRINT).join('\n');
    expect(text).toContain('gradient norm 0 · no parameter changed');
    expect(text).toContain('no step was made');
    expect(seenWords(ledger)).toBe('1 step, 2 rows, 4 tokens trained');
  });

  test('adds no weights where one of them was not measured', () => {
    const ledger = ledgerOf({ rows: [{ ids: [5, 6, 2], at: { 1: { weight: undefined } } }] });
    expect(stepSums(ledger)[0]?.weight).toBeUndefined();
  });

  test('has room on a narrow screen', () => {
    const lines = [
      ...seenLines(WRONG, { ...PRINT, width: 60 }),
      ...traceRowLines(WRONG, FAILS, { ...PRINT, width: 60 }),
    ];
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(60);
  });
});

test('a page shows hostile text and does nothing with it', () => {
  const page = tracePage([tracedRun(WRONG, true)], { ledger: WRONG, unseen: ['<script>alert(1)</script>'] });
  expect(page).toContain('&lt;script&gt;alert(1)');
  expect(page).not.toContain('<script>alert');
});
