// What a traced run did not judge, by what it lacked: a line a reason, with what to add.
import { expect, test } from 'vitest';
import { NOT_TRIED, type PropertyResult } from '../../src/check/events.ts';
import { PLAIN } from '../../src/report/text/paint.ts';
import { widthOf } from '../../src/report/text/visible.ts';
import { adviceOf, judgedWords, unjudgedLines, unjudgedOf } from '../../src/report/trace/unjudged.ts';
import type { Verdict } from '../../src/vocabulary.ts';
import { ledgerOf } from '../trace/traced.ts';

const LEDGER = ledgerOf({ rows: [{ ids: [5, 6, 2], spans: { origin: { kind: 'text' } } }] });
const PRINT = { width: 80, paint: PLAIN };

const result = (id: string, verdict: Verdict, reason?: string): PropertyResult => ({
  id,
  title: id,
  level: 'must',
  ...NOT_TRIED,
  verdict,
  ...(reason === undefined ? {} : { reason }),
});

const NO_SAMPLES = 'no trained row holds tokens of a recorded generate() call: the script samples nothing';
const RESULTS = [
  result('mask/a', 'pass'),
  result('mask/b', 'fail'),
  result('rollout/a', 'unsupported', NO_SAMPLES),
  result('rollout/b', 'unsupported', 'no generate() call was seen: nothing was sampled'),
  result(
    'tokenize/a',
    'unsupported',
    'no trained row is known to hold a prompt and an answer: --dataset FILE names the data',
  ),
  result(
    'trace/a',
    'unsupported',
    'nothing declares it: --semantics \'{"sft_aggregation":"token-mean"}\' does, "loss_aggregation" too',
  ),
  result('loss/a', 'unsupported', 'one process trained: there are no ranks to compare'),
  result('kl/a', 'unsupported', 'no KL term in the loss is declared'),
  result('mask/c', 'skipped', 'no row of the kind that it checks was trained'),
];

test('reasons that are one become one, the commonest first, and those that nobody can mend the last', () => {
  expect(judgedWords(RESULTS)).toBe('2 of 9 properties judged');
  expect(unjudgedOf(RESULTS, LEDGER).map(({ ids, why }) => [ids.length, why])).toEqual([
    [2, 'no sampled tokens were seen'],
    [1, 'no row is known to hold a prompt and an answer'],
    [1, 'nothing declares what the method promises'],
    [1, 'no row of the kind that it checks was trained in 1 step'],
    [2, 'nothing to judge: one process trained, no KL term in the loss is declared'],
  ]);
});

test('rules that could judge no case are told by their reason, whatever words are in it', () => {
  const silent = (id: string, count: string, why: string) =>
    result(id, 'skipped', `nothing could be judged in ${count}: ${why}`);
  const results = [
    silent('update/a', '2 cases', 'no tensor is frozen'),
    silent('update/b', '1 case', 'no tensor is frozen'),
    silent('mask/d', '3 cases, most often', 'nothing was sampled: no tokenizer'),
    result('rollout/c', 'unsupported', NO_SAMPLES),
  ];
  expect(unjudgedOf(results, LEDGER).map(({ ids, why }) => [ids, why])).toEqual([
    [['update/a', 'update/b'], 'no tensor is frozen'],
    [['rollout/c'], 'no sampled tokens were seen'],
    [['mask/d'], 'nothing was sampled: no tokenizer'],
  ]);
});

test('each says what to add, and only what there is', () => {
  const text = unjudgedLines(RESULTS, LEDGER, PRINT).join(' ').replace(/\s+/g, ' ');
  expect(text).toContain('lossproof_trace.watch_sample(prompt_ids, completion_ids)');
  expect(text).toContain('--tokenizer DIR, or --dataset FILE');
  expect(text).toContain(`add --semantics '{"sft_aggregation":"token-mean"}'`);
  expect(adviceOf(RESULTS, LEDGER)).toContain('watch_sample');
  expect(adviceOf(RESULTS.slice(0, 2), LEDGER)).toBeUndefined();
});

test('where sequences were recorded, it is not said that none were', () => {
  const sampled = ledgerOf({
    rows: [{ ids: [5, 6, 2], spans: { origin: { kind: 'text' } } }],
    generations: [{ promptIds: [5], completionIds: [9, 2] }],
  });
  const [first] = unjudgedOf([result('rollout/a', 'unsupported', NO_SAMPLES)], sampled);
  expect(first?.why).toBe('no trained row holds the tokens of any of 1 recorded sequence');
});

test('nothing is said where all judged; few are named; it has room on a narrow screen', () => {
  expect(unjudgedLines(RESULTS.slice(0, 2), LEDGER, PRINT)).toEqual([]);
  const lines = unjudgedLines(RESULTS, LEDGER, { ...PRINT, width: 60 });
  expect(lines.join(' ')).toContain('rollout/a, rollout/b: no sampled');
  for (const line of lines.filter((each) => !each.includes('watch_sample') && !each.includes('{')))
    expect(widthOf(line)).toBeLessThanOrEqual(60);
});

test('what is said of all of them is so: a reason that only sounds alike is told in its own words', () => {
  const taught = ledgerOf({
    rows: [{ ids: [5, 6, 2], spans: { origin: { kind: 'dataset', example: 0, form: 'chat' } } }],
  });
  const pairs = result(
    'trace/b',
    'unsupported',
    'no pair was trained: --dataset FILE names a prompt and an answer',
  );
  expect(unjudgedOf([pairs], taught).map(({ why }) => why)).toEqual([
    'nothing to judge: no pair was trained',
  ]);
});

test('a head or a term beside the logits is said, also where every property judged', () => {
  const beside = { what: 'beside', values: { share: 0.204 } };
  const text = unjudgedLines([], ledgerOf({ events: [beside] }), PRINT)
    .join(' ')
    .replace(/\s+/g, ' ');
  expect(text).toContain('about 20 % of their gradient');
  expect(text).toContain('The training by that term is not judged.');
  expect(unjudgedLines(RESULTS, ledgerOf({ events: [beside] }), PRINT).join(' ')).toContain('another head');
  expect(unjudgedLines(RESULTS, LEDGER, PRINT).join(' ')).not.toContain('another head');
});

test('rows with marks that were taken for plain text are said, with what judges them as chats', () => {
  const row = { ids: [5, 6, 2], spans: { origin: { kind: 'text', marks: true } as const } };
  const text = unjudgedLines([], ledgerOf({ rows: [row, row] }), PRINT)
    .join(' ')
    .replace(/\s+/g, ' ');
  expect(text).toContain('2 rows hold the marks of a chat and were taken for plain text');
  expect(text).toContain('--train-on assistant judges them as chats');
  expect(unjudgedLines(RESULTS, LEDGER, PRINT).join(' ')).not.toContain('plain text');
});
