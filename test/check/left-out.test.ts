// No green without judgement: what a property sets aside is said, and where it is more than half the property does not hold.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  discard,
  type Property,
  type PropertyResult,
  type RunOptions,
  redrawn,
  reject,
  run,
  type Trainer,
} from '../../src/index.ts';
import { summaryLine } from '../../src/report/summary.ts';
import { PLAIN } from '../../src/report/text/paint.ts';
import { rowLines } from '../../src/report/text/table.ts';
import { echoes, extracting, type ToyCase } from './toy.ts';

const right = extracting((ids) => ids);

async function judged(
  change: Partial<Property<ToyCase>>,
  trainer: Trainer = right,
  more: Partial<RunOptions> = {},
): Promise<PropertyResult> {
  const property = { ...echoes, coverage: {}, ...change } as unknown as Property;
  const [result] = await run(
    { trainer, tokenizer: undefined, properties: [property], seed: 7, cases: 100, command: 'test', ...more },
    () => undefined,
  );
  if (result === undefined) throw new Error('no result');
  return result;
}

/** Of nine lengths that are equally likely, those below this are set aside. */
const asideBelow = (length: number, doing?: 'trainer'): Partial<Property<ToyCase>> => ({
  check: async (subject, given) =>
    given.ids.length < length ? discard('too short', doing) : echoes.check(subject, given),
});

const head = (result: PropertyResult): string =>
  rowLines(result, { ids: [result.id], width: 120, paint: PLAIN }).join('\n');

describe('a property of which more than half is set aside', () => {
  test('is thin where the case is at fault, and fails the run', async () => {
    const result = await judged(asideBelow(7));
    expect(result).toMatchObject({
      verdict: 'thin',
      reason: expect.stringMatching(/^\d+ of 100 cases were set aside, most often: too short$/),
    });
  });

  test('is skipped where the trainer leaves nothing to judge, and never counts as a pass', async () => {
    expect(await judged(asideBelow(7, 'trainer'))).toMatchObject({
      verdict: 'skipped',
      reason: 'less than half of the cases could be judged: too short',
    });
  });

  test('is no verdict on few cases', async () => {
    expect((await judged(asideBelow(7), right, { cases: 20 })).verdict).not.toBe('thin');
  });

  test('fails all the same where a case that is judged fails', async () => {
    const wrong = extracting((ids) => ids.map(() => 1000));
    expect((await judged(asideBelow(7), wrong)).verdict).toBe('fail');
  });
});

describe('a pass on less than four fifths of the cases', () => {
  test('says so in its row and in the last line', async () => {
    const result = await judged(asideBelow(3));
    expect(result.verdict).toBe('pass');
    expect(head(result)).toMatch(/! \d+ of 100 cases not judged, most often: too short/);
    const line = summaryLine([result], { milliseconds: 1, interrupted: false });
    expect(line).toContain('1 holds (1 on less than 4/5 of the cases)');
  });

  test('says so where it is the trainer that refuses, too', async () => {
    const refusing = extracting((ids) => (ids.length > 5 ? reject('five ids at most') : ids));
    const result = await judged({}, refusing);
    expect(result).toMatchObject({ verdict: 'pass', reason: expect.stringContaining('five ids at most') });
    expect(head(result)).toMatch(/the trainer refused \d+ of 100 cases, most often/);
  });

  test('is silent where hardly any is left out', async () => {
    const result = await judged(asideBelow(1));
    expect(result.setAside).toBeGreaterThan(0);
    expect(head(result).split('\n')).toHaveLength(1);
    expect(summaryLine([result], { milliseconds: 1, interrupted: false })).not.toContain('4/5');
  });
});

describe('cases that are drawn again', () => {
  const lengths = (arbitrary: fc.Arbitrary<number>): readonly number[] =>
    fc.sample(arbitrary, { seed: 3, numRuns: 500 });

  test('are hardly ever unwanted, and those that are wanted are all still drawn', () => {
    const drawn = lengths(redrawn(fc.nat(3), (n) => n > 0));
    expect(drawn.filter((n) => n === 0).length).toBeLessThan(5);
    expect(new Set(drawn)).toEqual(new Set([1, 2, 3].concat(drawn.includes(0) ? [0] : [])));
  });

  test('end where there are no wanted ones', () => {
    expect(lengths(redrawn(fc.constant(0), () => false))).toHaveLength(500);
  });

  test('are made small like any other', () => {
    const { counterexample } = fc.check(
      fc.property(
        redrawn(fc.nat(1000), (n) => n > 9),
        (n) => n < 50,
      ),
      { seed: 3 },
    );
    expect(counterexample).toEqual([50]);
  });
});
