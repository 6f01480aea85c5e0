// Whatever the order in which results come, what is told of them is one thing.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NOT_TRIED, type PropertyResult } from '../../../src/check/events.ts';
import { settled, settling } from '../../../src/check/parallel/settle.ts';

const FACTS = [
  { id: 'kl/relation', ops: ['kl'] },
  { id: 'loss/relation', ops: ['loss'] },
  { id: 'kl/formula', ops: ['kl'], settles: ['kl_estimator'] },
  { id: 'loss/formula', ops: ['loss', 'kl'], settles: ['loss_aggregation'] },
  { id: 'loss/asks-by-a-case', ops: ['loss'] },
] as const;

const resultOf = (
  id: string,
  verdict: PropertyResult['verdict'],
  more: Partial<PropertyResult> = {},
): PropertyResult => ({
  id,
  title: id,
  level: 'must',
  verdict,
  ...NOT_TRIED,
  ...more,
});

const FAILURE = {
  caseId: 'abc',
  given: 1,
  casesToFail: 1,
  shrinks: 0,
  confirmed: 'deterministic',
  seed: 1,
  lines: [],
} as const;

const VERDICTS = ['pass', 'fail', 'error', 'ask', 'skipped'] as const;
const results = fc.tuple(...FACTS.map(() => fc.constantFrom(...VERDICTS))).map((verdicts) =>
  FACTS.map(({ id }, at) => {
    const verdict = verdicts[at] ?? 'pass';
    return resultOf(id, verdict, verdict === 'ask' ? { answers: ['"kl_clamp": 1'] } : {});
  }),
);

test('in any order the same is told, each once', () => {
  fc.assert(
    fc.property(results, fc.context(), fc.integer(), (all, _, shuffle) => {
      const order = fc.sample(fc.shuffledSubarray([...all], { minLength: all.length }), {
        seed: shuffle,
        numRuns: 1,
      })[0];
      const { add, rest } = settling(FACTS);
      const told = [...(order ?? []).flatMap(add), ...rest()];
      const byId = (a: PropertyResult, b: PropertyResult): number => a.id.localeCompare(b.id);
      expect(told.toSorted(byId)).toEqual([...settled(FACTS, all)].toSorted(byId));
    }),
  );
});

test('a question waits for what asks the same ops before it, and is put once that holds', () => {
  const { add, rest } = settling(FACTS);
  expect(add(resultOf('kl/formula', 'ask', { answers: ['x'] }))).toEqual([]);
  expect(add(resultOf('loss/relation', 'pass')).map(({ id }) => id)).toEqual(['loss/relation']);
  expect(
    add(resultOf('kl/relation', 'fail')).map(({ id, verdict, reason, answers }) => [
      id,
      verdict,
      reason,
      answers,
    ]),
  ).toEqual([
    ['kl/relation', 'fail', undefined, undefined],
    ['kl/formula', 'skipped', 'which formula it is, is asked once kl/relation holds', undefined],
  ]);
  expect(rest()).toEqual([]);
});

test('a failure waits for same-twice of its op, which explains it, and of no other op', () => {
  const facts = [
    { id: 'kl/same-twice', ops: ['kl'] },
    { id: 'kl/relation', ops: ['kl'] },
    { id: 'kl/in-the-loss', ops: ['loss', 'kl'] },
    { id: 'loss/same-twice', ops: ['loss'] },
  ];
  const failure = { ...FAILURE, finding: { kind: 'x', sentence: 'x' } };
  const failing = (id: string): PropertyResult => resultOf(id, 'fail', { failure });
  const { add } = settling(facts);
  expect(add(failing('kl/relation'))).toEqual([]);
  expect(add(failing('kl/in-the-loss'))).toEqual([failing('kl/in-the-loss')]);
  expect(add(failing('kl/same-twice')).map(({ id, failure: own }) => [id, own?.explainedBy])).toEqual([
    ['kl/same-twice', undefined],
    ['kl/relation', 'kl/same-twice'],
  ]);
  expect(settled(facts, [failing('kl/relation'), resultOf('kl/same-twice', 'pass')]).at(-1)).toEqual(
    failing('kl/relation'),
  );
});

test('a question that a case asks is put whatever else fails', () => {
  const asks = resultOf('loss/asks-by-a-case', 'ask');
  expect(settled(FACTS, [asks, resultOf('loss/relation', 'fail')]).at(-1)).toEqual(asks);
});

test('what every op runs into is told by the first in order, whoever met it first', () => {
  const trainerFailure = { kind: 'error', message: 'case 12 is broken', advice: '' } as const;
  const failing = (id: string, sameAs?: string): PropertyResult =>
    resultOf(id, 'error', {
      failure: {
        ...FAILURE,
        trainerFailure: { ...trainerFailure, message: `case ${id.length} is broken` },
        ...(sameAs === undefined ? {} : { sameAs }),
      },
    });
  const told = settled(FACTS, [
    failing('kl/formula'),
    failing('kl/relation', 'kl/formula'),
    failing('loss/relation'),
  ]);
  expect(told.map(({ id, failure }) => [id, failure?.sameAs])).toEqual([
    ['kl/relation', undefined],
    ['loss/relation', 'kl/relation'],
    ['kl/formula', 'kl/relation'],
  ]);
});
