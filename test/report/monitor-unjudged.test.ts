// What was not judged of logs, before what holds: by what was lacking, in a few lines.
import { expect, test } from 'vitest';
import type { MonitorRule } from '../../src/monitor/rule.ts';
import { resultOf } from '../../src/monitor/run.ts';
import { judgedWords, unjudgedLines, unjudgedOf } from '../../src/report/monitor/unjudged.ts';
import { PLAIN } from '../../src/report/text/paint.ts';
import { widthOf } from '../../src/report/text/visible.ts';
import { ledgerOf, limit, log, noBad } from '../monitor/logged.ts';

const shy = (id: string, why: string): MonitorRule =>
  limit('loss', {
    id: `monitor/${id}`,
    watch: () => ({ point: () => undefined, judged: () => 0, why: () => why }),
  });
const rules = [
  limit('loss'),
  limit('kl'),
  limit('entropy'),
  noBad,
  shy('a', 'this and that'),
  shy('b', 'it needs 20 values; loss has 3'),
  shy('c', 'it needs 20 values; loss has 3'),
];
const history = ledgerOf(rules);
log(history, 'a', 'loss', [3, 2, 1]);
const results = rules.map((rule) => resultOf(history, rule));
const print = { width: 70, paint: PLAIN, letters: 'unicode' } as const;

test('is by reason: what was never logged, then what most rules lacked', () => {
  expect(judgedWords(results)).toBe('1 of 7 rules judged');
  expect(unjudgedOf(results, rules)).toEqual([
    {
      ids: ['monitor/kl-limit', 'monitor/entropy-limit', 'monitor/no-bad-words'],
      why: 'nothing logged of kl, entropy; no rollouts (--rollouts PATH)',
    },
    { ids: ['monitor/b', 'monitor/c'], why: 'it needs 20 values; loss has 3' },
    { ids: ['monitor/a'], why: 'this and that' },
  ]);
});

test('names the rules where they are few, and counts them where they are many', () => {
  expect(unjudgedLines(results, rules, print)[0]).toBe('1 of 7 rules judged. Not judged:');
  expect(unjudgedLines(results, rules, print).join(' ')).toContain(
    'monitor/b, monitor/c: it needs 20 values',
  );
  const many = Array.from({ length: 20 }, (_, at) => shy(`r${at}`, `reason ${at}`));
  const all = [...rules, ...many];
  const own = ledgerOf(all);
  log(own, 'a', 'loss', [1]);
  const lines = unjudgedLines(
    all.map((rule) => resultOf(own, rule)),
    all,
    print,
  );
  expect(lines[0]).toBe('1 of 27 rules judged. Not judged:');
  expect(lines.join('\n')).toContain(' 3  nothing logged of kl, entropy');
  expect(lines.map((line) => line.trim()).join(' ')).toMatch(
    /for other reasons: .* and \d+ more \(--html FILE has them all\)/,
  );
  expect(lines.length).toBeLessThan(12);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(70);
});

test('is nothing where all judged', () => {
  expect(unjudgedLines(results.slice(0, 1), rules, print)).toEqual([]);
});
