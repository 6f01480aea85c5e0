// A traced run as lines and as a page: which rows come first, what is marked in them, what is never marked.
import { describe, expect, test } from 'vitest';
import { NOT_TRIED } from '../../src/check/events.ts';
import { tracePage } from '../../src/report/html/trace/trace.ts';
import { badgeJson } from '../../src/report/machine/badge.ts';
import { junitReport } from '../../src/report/machine/junit.ts';
import { markdownSummary } from '../../src/report/machine/markdown.ts';
import { terminalReport } from '../../src/report/terminal.ts';
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

test('what was sampled is told with its settings, those that differ side by side', () => {
  const of = (more: object) => ({ promptIds: [3], completionIds: [5], temperature: 0.7, ...more });
  const lines = (...generations: ReturnType<typeof of>[]): string =>
    seenLines(ledgerOf({ rows: [{ ids: [3, 5] }], generations }), PRINT).join(' ');
  expect(lines(of({ topP: 0.8 }), of({ topP: 0.9, topK: 20 }))).toContain(
    '2 sequences by generate() at temperature 0.7, top-p 0.8 or 0.9, top-k 20',
  );
  expect(lines(of({ temperature: undefined }))).toMatch(/1 sequence by generate\(\)(?! at)/);
});

describe('the gradient norm of a rank', () => {
  const of = (wrapper: string | undefined, divided: boolean, norms: readonly number[]): string => {
    const ranks = norms.map((_, rank) => rank);
    const ledger = ledgerOf({
      rows: ranks.map((rank) => ({ ids: [3, 5], rank })),
      steps: [
        {
          index: 0,
          ranks: norms.map((gradientNorm, rank) => ({
            rank,
            optimizer: 'AdamW',
            done: { gradientNorm, changed: true, learningRates: [1e-3] },
          })),
        },
      ],
    });
    const replicas = [{ model: 0, ranks, wrapper, divided, gone: false, steps: [] }];
    return seenLines({ ...ledger, replicas }, { ...PRINT, width: 200 }).join(' ');
  };

  test.each([
    ['FSDPModule', [0.6, 0.8], 1],
    ['FullyShardedDataParallel', [3, 4], 5],
    ['FSDPModule', [1, 1, 1, 1], 2],
  ])('is that of its shard under %s', (wrapper, norms, together) => {
    expect(of(wrapper, true, norms)).toContain(
      `gradient norm ${norms[0]} of its shard, ${together} of all ranks`,
    );
    expect(of(wrapper, false, norms)).toMatch(/of its shard(?!,)/);
  });

  test.each(['DistributedDataParallel', undefined])('is that of the model under %s', (wrapper) => {
    expect(of(wrapper, true, [0.6, 0.8])).not.toContain('shard');
  });
});

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
    expect(text).toContain('6 pads after them');
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

  test.each([
    [[0.25, -0.25 + 3e-7], 0],
    [[-1e-9, 1.0002e-9], -1 * (1e-9 - 1.0002e-9)],
    [[0.25, -0.2499], 0.0001],
    [[0, 0], 0],
  ])('what rounding leaves of weights that cancel out is no sum: %j', (weight, sum) => {
    const ledger = ledgerOf({ rows: [{ ids: [5, 6, 2], weight }] });
    const found = stepSums(ledger)[0]?.weight;
    if (sum === 0) expect(found).toBe(0);
    else expect((found ?? 0) / sum).toBeCloseTo(1, 6);
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

describe('what a run noticed, and why it is no pass', () => {
  const run = tracedRun(RIGHT, false);
  const end = {
    type: 'run-end',
    interrupted: false,
    milliseconds: 12,
    noVerdict: 'No verdict: 2 properties hold, and none of them says what was sampled.',
    notes: [{ sentence: 'Step 1 trains the batch of step 0 again.', answers: ["--semantics '{}'"] }],
  } as const;
  const noticed = { ...run, end };

  test.each([
    ['the page', tracePage([noticed], { ledger: RIGHT, unseen: [] })],
    ['Markdown', markdownSummary([noticed])],
    ['JUnit', junitReport([noticed])],
  ])('stand in %s', (_, text) => {
    expect(text).toContain('Step 1 trains the batch of step 0 again.');
    expect(text).toContain('No verdict: 2 properties hold');
    expect(text).not.toMatch(/<h1 class="blue"|\*\*✓/);
  });

  test('stands on the terminal behind the failures, and makes the badge grey', () => {
    let text = '';
    const report = terminalReport({
      write: (more) => {
        text += more;
      },
      ...PRINT,
      replay: { command: '', traced: true },
      live: false,
      quiet: false,
      now: () => 0,
    });
    for (const event of [run.start, end]) report(event);
    expect(text).toContain('--strict fails on it');
    expect(text).toContain('Step 1 trains the batch of step 0 again.');
    expect(text).toContain("    --semantics '{}'");
    expect(badgeJson([noticed])).toContain('"message": "no verdict, 2 hold"');
  });
});

test('the page says what was not judged before its first row, and folds the raw JSON', () => {
  const left = {
    id: 'rollout/a',
    title: 'a',
    level: 'must',
    ...NOT_TRIED,
    verdict: 'unsupported',
    reason: 'no generate() call was seen: nothing was sampled',
  } as const;
  const run = tracedRun(WRONG, true);
  const results = [...run.results, left];
  const page = tracePage([{ ...run, results }], { ledger: WRONG, unseen: [] });
  const body = page.slice(page.indexOf('<main'));
  expect(body).toContain('<strong>2 of 3 properties judged.</strong>');
  expect(body.indexOf('properties judged')).toBeLessThan(body.indexOf('id="carpet"'));
  expect(body.indexOf('id="carpet"')).toBeLessThan(body.indexOf('class="failures"'));
  expect(body).toMatch(/<details id="[^"]*\/given"><summary><h4>Where it was found, as JSON/);
});
