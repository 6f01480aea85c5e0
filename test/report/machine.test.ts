import { expect, test } from 'vitest';
import { junitReport } from '../../src/report/junit.ts';
import { eventLine } from '../../src/report/ndjson.ts';
import { failure, REPLAY, result, runStart } from './results.ts';

test('an event is one line that JSON reads back, and progress is none', () => {
  const line = eventLine(runStart(['a/b']));
  expect(line.endsWith('\n')).toBe(true);
  expect(JSON.parse(line)).toEqual(runStart(['a/b']));
  expect(eventLine({ type: 'progress', id: 'a/b', done: 1, total: 2 })).toBe('');
});

test('NaN is written as a word, not hidden as null', () => {
  const numbers = [{ where: 'row 0', expected: 1, observed: Number.NaN, allowed: 0 }];
  const finding = { kind: 'k', sentence: 's', numbers };
  const line = eventLine({ type: 'property-end', result: result({ failure: failure({ finding }) }) });
  expect(line).toContain('"observed":"NaN"');
});

test('JUnit counts verdicts apart and escapes what XML cannot hold', () => {
  const text = junitReport(
    [
      result(),
      result({
        id: 'mask/x',
        verdict: 'fail',
        failure: failure({ finding: { kind: 'k', sentence: 'a < b & "c" \u0000' } }),
      }),
      result({ id: 'mask/y', verdict: 'unsupported', reason: 'no op' }),
    ],
    'my-trainer',
    REPLAY,
  );
  expect(text).toContain('tests="3" failures="1" errors="0" skipped="1"');
  expect(text).toContain('<failure message="a &lt; b &amp; &quot;c&quot; \ufffd">');
  expect(text).toContain('<skipped message="unsupported: no op"/>');
  expect(text).not.toContain('\u0000');
});

test('JUnit says of a passing property how many cases were not judged', () => {
  const text = junitReport([result({ rejected: 2, setAside: 3 }), result()], 'my-trainer', REPLAY);
  expect(text.split('<system-out>')).toHaveLength(2);
  expect(text).toContain('<system-out>100 cases, 2 refused, 3 set aside</system-out>');
});
