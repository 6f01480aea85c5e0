import { expect, test } from 'vitest';
import type { PropertyResult, RunEvent } from '../../src/check/events.ts';
import { thinSentence } from '../../src/check/labels.ts';
import { type TerminalOptions, terminalReport } from '../../src/report/terminal.ts';
import { PLAIN } from '../../src/report/text/paint.ts';
import { widthOf } from '../../src/report/text/visible.ts';
import { failure, REPLAY, result, runStart } from './results.ts';

function printed(events: readonly RunEvent[], more: Partial<TerminalOptions> = {}): string {
  let text = '';
  let clock = 0;
  const report = terminalReport({
    write: (piece) => {
      text += piece;
    },
    width: 100,
    paint: PLAIN,
    replay: REPLAY,
    live: false,
    quiet: false,
    now: () => {
      clock += 200;
      return clock;
    },
    ...more,
  });
  for (const event of events) report(event);
  return text;
}

const ends: RunEvent[] = [
  result(),
  result({ id: 'mask/stop-once', verdict: 'fail', cases: 17, failure: failure() }),
  result({ id: 'kl/k3', verdict: 'unsupported', cases: 0, reason: 'the adapter has no op `kl`' }),
  result({ id: 'kl/known', verdict: 'known', cases: 3, failure: failure(), reason: 'upstream issue 4' }),
  result({ id: 'kl/stale', verdict: 'stale', reason: 'it holds now, and is listed as known' }),
  result({
    id: 'collate/x',
    level: 'should',
    rejected: 60,
    fixed: ['0a1b2c'],
  }),
  result({
    id: 'collate/y',
    verdict: 'thin',
    thin: [{ label: 'two stop ids', share: 0.02, least: 0.2, judged: 100, refused: 0 }],
    reason: thinSentence({ label: 'two stop ids', share: 0.02, least: 0.2, judged: 100, refused: 0 }),
  }),
  result({
    id: 'kl/other',
    verdict: 'changed',
    failure: failure(),
    reason: 'it was "nan", and is "sign" now',
  }),
  result({ id: 'kl/gone', verdict: 'unseen', cases: 0, reason: 'listed, and no property is called so' }),
].map((each) => ({ type: 'property-end', result: each }));
const end: RunEvent = { type: 'run-end', interrupted: false, milliseconds: 12_345 };
const ids = ['mask/prompt-is-never-trained', 'mask/stop-once', 'kl/k3'];

test('a run is rows, then failures, then one line in words', () => {
  expect(`\n${printed([runStart(ids), ...ends, end])}`).toMatchInlineSnapshot(`
    "
    checking my-trainer 0.4 (python 3.11, torch 2.13) · 3 properties, 100 cases each

    ✓ holds        mask/prompt-is-never-trained  must    100 cases
    ✗ fails        mask/stop-once                must    failed at case 17 of 100
    ~ known        kl/known                      must    failed at case 17 of 100: upstream issue 4
    ? stale        kl/stale                      must    100 cases: it holds now, and is listed as known
    ✓ holds        collate/x                     should  100 cases, 60 refused
        ! the trainer refused 60 of 100 cases, so this says little
        + fixed 0a1b2c: it holds now and is no longer kept
    % thin         collate/y                     must
        only 2 % of the 100 cases that were judged had "two stop ids", at least 20 % are needed: the
        generated cases say less than the property promises
    ≠ changed      kl/other                      must
        failed at case 17 of 100: it was "nan", and is "sign" now
    ∅ unseen       kl/gone                       must    listed, and no property is called so
    – unsupported  kl/k3                         must    the adapter has no op \`kl\`

    ✗ mask/stop-once  must · failed at case 17 of 100, 9 shrinks
      Token 5 '␠cap' (id 2117) belongs to the prompt of row 1, but the mask trains on it.

      row 1     0      1       2       3       4       5       6       7
      token     <pad>  <s>     What    ␠is     ␠the    ␠cap    ␠Paris  </s>
      id        0      1       1724    338     278     2117    3681    2
      role      pad    prompt  prompt  prompt  prompt  prompt  compl.  stop
      expected  0      0       0       0       0       0       1       1
      observed  0      0       0       0       0       1       1       0
                                                       ▲▲▲             △

      Case   {"prompts":[[1724,338]],"completions":[[3681,2]]}

      Reproduce   npx lossproof replay 7f3a9c
      Explain     npx lossproof explain mask/stop-once

    ≠ kl/other  must · failed at case 17 of 100, 9 shrinks
      Token 5 '␠cap' (id 2117) belongs to the prompt of row 1, but the mask trains on it.

      row 1     0      1       2       3       4       5       6       7
      token     <pad>  <s>     What    ␠is     ␠the    ␠cap    ␠Paris  </s>
      id        0      1       1724    338     278     2117    3681    2
      role      pad    prompt  prompt  prompt  prompt  prompt  compl.  stop
      expected  0      0       0       0       0       0       1       1
      observed  0      0       0       0       0       1       1       0
                                                       ▲▲▲             △

      Changed: it was "nan", and is "sign" now.

      Case   {"prompts":[[1724,338]],"completions":[[3681,2]]}

      Reproduce   npx lossproof replay 7f3a9c
      Explain     npx lossproof explain kl/other

    8 of 9 properties apply: 2 hold (1 on less than 4/5 of the cases), 1 fails, 1 thin, 1 changed, 1
    stale, 1 unseen, 1 known · seed 1836021 · 12.3 s
    "
  `);
});

test('what was not judged is told by reason, the missing ops last and in one row, and all are counted', () => {
  const missing = ['a/1', 'a/2', 'a/3', 'b/1', 'c/1'].map(
    (id): RunEvent => ({
      type: 'property-end',
      result: result({
        id,
        verdict: 'unsupported',
        reason: `the adapter has no op \`${id === 'c/1' ? 'x' : 'y'}\``,
      }),
    }),
  );
  expect(printed([runStart(ids), ...missing, end])).toMatchInlineSnapshot(`
    "checking my-trainer 0.4 (python 3.11, torch 2.13) · 3 properties, 100 cases each

    – unsupported  3 stages (5 properties)       must    the adapter has no op \`y\`, \`x\`

    0 of 5 properties apply · seed 1836021 · 12.3 s
    "
  `);
});

test('a reason that does not fit stands whole below its row', () => {
  const reason = 'the trainer is fixed to its special ids (hello.tokens), so ids cannot be renamed';
  const event: RunEvent = { type: 'property-end', result: result({ verdict: 'skipped', reason }) };
  expect(printed([runStart(ids), event, end], { width: 60 })).toMatchInlineSnapshot(`
    "checking my-trainer 0.4 (python 3.11, torch 2.13) · 3
    properties, 100 cases each

    · skipped  mask/prompt-is-never-trained
        must · the trainer is fixed to its special ids
        (hello.tokens), so ids cannot be renamed

    1 property: 1 skipped · seed 1836021 · 12.3 s
    "
  `);
});

test('what had no turn is named below its row: some twenty, and how many more', () => {
  const names = Array.from({ length: 23 }, (_, at) => `${at < 15 ? 'mask' : 'collate'}/number-${at}`);
  const events = [
    runStart(names),
    ...names.map(
      (id): RunEvent => ({
        type: 'property-end',
        result: result({
          id,
          verdict: 'interrupted',
          cases: 0,
          reason: 'not run: the time of --max-time was over',
        }),
      }),
    ),
    { ...end, type: 'run-end', stopped: 'time' } as const,
  ];
  expect(`\n${printed(events)}`).toMatchInlineSnapshot(`
    "
    checking my-trainer 0.4 (python 3.11, torch 2.13) · 23 properties, 100 cases each

    ■ interrupted  mask/, collate/ (23 properties)  must    not run: the time of --max-time was over
        mask/number-0, mask/number-1, mask/number-2, mask/number-3, mask/number-4, mask/number-5,
        mask/number-6, mask/number-7, mask/number-8, mask/number-9, mask/number-10, mask/number-11,
        mask/number-12, mask/number-13, mask/number-14, collate/number-15, collate/number-16,
        collate/number-17, collate/number-18, collate/number-19 and 3 more: --rows

    out of time · 23 properties: 23 interrupted · seed 1836021 · 12.3 s
    "
  `);
  // Few have a line without more.
  expect(printed([runStart(names), ...events.slice(1, 4), end])).toMatch(
    / {4}mask\/number-0, mask\/number-1, mask\/number-2\n/,
  );
});

test('an interrupted run says so in its final line', () => {
  const events: RunEvent[] = [
    runStart(ids),
    {
      type: 'property-end',
      result: result({ verdict: 'interrupted', cases: 12, reason: 'the run was interrupted' }),
    },
    { ...end, type: 'run-end', interrupted: true },
  ];
  expect(printed(events).trimEnd().split('\n').at(-1)).toMatchInlineSnapshot(
    `"interrupted · 1 property: 1 interrupted · seed 1836021 · 12.3 s"`,
  );
});

test('quiet prints failures and the final line only', () => {
  expect(printed([runStart(ids), ...ends.slice(0, 1), end], { quiet: true })).toMatchInlineSnapshot(`
    "1 property: 1 holds · seed 1836021 · 12.3 s · my-trainer 0.4
    "
  `);
  expect(printed([runStart(ids), ...ends, end], { quiet: true })).toContain('Reproduce');
});

test('the live line names the property, its place and its rate, and is erased before a row', () => {
  const events: RunEvent[] = [
    { type: 'property-start', id: 'mask/stop-once', index: 2, total: 31 },
    { type: 'progress', id: 'mask/stop-once', done: 41, total: 100 },
    { type: 'property-end', result: result() },
  ];
  const text = printed(events, { live: true });
  expect(text).toContain('3 of 31  mask/stop-once  41/100 cases, ');
  expect(text).toContain(`a second\r\u001b[K✓ holds`);
  expect(printed(events)).not.toContain('\r');
});

test('the live line never wraps', () => {
  const events: RunEvent[] = [
    { type: 'property-start', id: 'x'.repeat(200), index: 0, total: 1 },
    { type: 'progress', id: 'x'.repeat(200), done: 1, total: 100 },
  ];
  for (const line of printed(events, { live: true, width: 50 }).split('\r\u001b[K')) {
    expect(line.length).toBeLessThan(50);
  }
});

test('cases that a check set aside are not laid on the trainer', () => {
  const rows = (more: Parameters<typeof result>[0]): string =>
    printed([{ type: 'property-end', result: result(more) }]);
  expect(rows({ setAside: 3, rejected: 2 })).toContain('100 cases, 2 refused, 3 set aside');
  expect(rows({ setAside: 51 })).toContain('! 51 of 100 cases not judged, so this says little');
  expect(rows({ setAside: 51, reason: 'too short' })).toContain('says little, most often: too short');
  expect(rows({ cases: 2, setAside: 1, reason: 'no tensor is frozen' })).toContain(
    '! 1 of 2 cases not judged: no tensor is frozen',
  );
  expect(rows({ setAside: 51 })).not.toContain('the trainer refused');
  expect(rows({ setAside: 31, rejected: 30 })).toContain(
    'of 100 cases the trainer refused 30, and 31 were not judged',
  );
});

test('a trainer failure that comes again is told once and referred to', () => {
  const { finding: _, ...rest } = failure();
  const failing = (id: string, message: string): RunEvent => ({
    type: 'property-end',
    result: result({
      id,
      verdict: 'error',
      failure: { ...rest, trainerFailure: { kind: 'shape', message, advice: 'Look.' } },
    }),
  });
  const text = printed([
    failing('mask/a', 'ok has an unknown key "maks", row 1.'),
    failing('mask/b', 'ok has an unknown key "maks", row 2.'),
    failing('mask/c', 'ok.mask is missing.'),
    end,
  ]);
  expect(text.split('unknown key')).toHaveLength(2);
  expect(text).toContain('The trainer fails here as in mask/a, above.');
  expect(text).toContain('ok.mask is missing.');
});

test('what must not be overlooked stands in the final line', () => {
  expect(printed([...ends.slice(0, 1), end], { note: 'the bundled example, not your trainer' })).toContain(
    '12.3 s · the bundled example, not your trainer',
  );
});

const many = (stage: string, count: number, more: Partial<PropertyResult> = {}): PropertyResult[] =>
  Array.from({ length: count }, (_, at) => result({ id: `${stage}/p${at}`, ...more }));
const ended = (results: readonly PropertyResult[]): RunEvent[] =>
  results.map((each) => ({ type: 'property-end', result: each }));
/** The facts of a run have the levels, too. */
const startOf = (results: readonly PropertyResult[]): RunEvent => {
  const start = runStart(results.map(({ id }) => id));
  if (start.type !== 'run-start') return start;
  const properties = start.properties.map((facts, at) => ({ ...facts, level: results[at]?.level ?? 'must' }));
  return { ...start, properties };
};
const rowsOf = (text: string): string[] => text.split('\n').filter((line) => /^[✓✗!%~–·■?≠∅]/.test(line));

test('of many properties those that hold share a row per stage, and one that fails has its own, at once', () => {
  const all: PropertyResult[] = [
    ...many('mask', 9, { rejected: 10, setAside: 1 }),
    result({ id: 'mask/fails', verdict: 'fail', failure: failure() }),
    ...many('mask', 2, { level: 'should' }).map((each) => ({ ...each, id: `${each.id}x` })),
    result({ id: 'mask/healed', fixed: ['0a1b2c'] }),
    ...many('kl', 4),
    result({ id: 'gae/one' }),
  ];
  const start = startOf(all);
  expect(rowsOf(printed([start, ...ended(all), end]))).toEqual([
    '✗ fails        mask/fails                   must    failed at case 17 of 100',
    '✓ holds        mask/healed                  must    100 cases',
    '✓ holds        mask/ (9 of 11 properties)   must    900 cases, 90 refused, 9 set aside',
    '✓ holds        mask/ (2 properties)         should  200 cases',
    '✓ holds        kl/ (4 properties)           must    400 cases',
    '✓ holds        gae/one                      must    100 cases',
    '✗ mask/fails  must · failed at case 17 of 100, 9 shrinks',
  ]);
  expect(rowsOf(printed([start, ...ended(all), end], { rows: true }))).toHaveLength(all.length + 1);
});

test('the row of a stage comes when the next stage begins, not when it ends', () => {
  const all = [...many('mask', 13), ...many('kl', 2)];
  const text = printed([
    runStart(all.map(({ id }) => id)),
    ...ended(all.slice(0, 13)),
    { type: 'property-start', id: 'kl/p0', index: 13, total: 15 },
  ]);
  expect(rowsOf(text)).toEqual(['✓ holds        mask/ (13 properties)        must    1,300 cases']);
});

test('one that holds and of which little was judged is not folded away', () => {
  const all = [...many('mask', 13), result({ id: 'mask/little', rejected: 90 })];
  const text = printed([runStart(all.map(({ id }) => id)), ...ended(all), end]);
  expect(text).toMatch(/holds +mask\/little .*\n +! the trainer refused 90 of 100 cases/);
});

test('after ten whole blocks the others are a sentence and a way to see them', () => {
  const all = many('mask', 14, { verdict: 'fail', failure: failure() });
  const text = printed([runStart(all.map(({ id }) => id)), ...ended(all), end]);
  expect(text.split('▲▲▲')).toHaveLength(11);
  expect(text.split('npx lossproof replay 7f3a9c')).toHaveLength(15);
});

test('no line of a table is wider than a terminal of forty columns', () => {
  const all = [
    ...many('mask', 13),
    result({
      id: 'preference/chosen-and-rejected-are-one-prompt-apart',
      verdict: 'skipped',
      reason: 'the answer has no mask',
    }),
    result({ id: 'kl/x', verdict: 'fail', failure: failure() }),
  ];
  const text = printed([runStart(all.map(({ id }) => id)), ...ended(all), end], {
    width: 40,
  });
  // Commands are left whole, so that they can be copied.
  const lines = text.split('\n').filter((line) => !/lossproof|adapter|same version/.test(line));
  expect(lines.filter((line) => widthOf(line) > 40)).toEqual([]);
});

test('a run that is silent for half a minute in a log says where it is', () => {
  let clock = 0;
  const events: RunEvent[] = [
    { type: 'property-start', id: 'mask/stop-once', index: 2, total: 31 },
    { type: 'progress', id: 'mask/stop-once', done: 41, total: 100 },
    { type: 'progress', id: 'mask/stop-once', done: 42, total: 100 },
  ];
  const text = printed(events, { now: () => (clock += 10_000) });
  expect(text).toBe(
    '… 3 of 31  mask/stop-once  41/100 cases, 2 a second\n'.replace(
      '2 a second',
      text.match(/[\d.]+ a second/)?.[0] ?? '',
    ),
  );
  expect(printed(events, { now: () => (clock += 10_000), quiet: true })).toBe('');
});

test('what a trainer calls itself, and why it refuses, moves no cursor', () => {
  const start = runStart(ids);
  const hello = start.type === 'run-start' ? { ...start.hello, name: 'a\u001b[2Jb\u202e' } : undefined;
  const text = printed([
    { ...start, hello } as RunEvent,
    { type: 'property-end', result: result({ verdict: 'skipped', reason: 'no\u001b[31m \u0007way' }) },
    end,
  ]);
  expect(text).toContain('checking a\\x1b[2Jb\\u{202e} 0.4');
  expect(text).toContain('no\\x1b[31m \\x07way');
});
