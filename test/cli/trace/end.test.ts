// What the results of a traced run amount to: a pass only where what was trained was judged.
import { describe, expect, test } from 'vitest';
import { tellingOf } from '../../../properties/ledger/index.ts';
import { NOT_TRIED, type PropertyResult } from '../../../src/check/events.ts';
import { type Seen, verdictOf } from '../../../src/cli/trace/end.ts';
import type { Verdict } from '../../../src/vocabulary.ts';
import { ledgerOf, type TrainedRowSketch } from '../../trace/traced.ts';

const UNKNOWN = { origin: { kind: 'unknown', why: 'there is no tokenizer' } } as const;
const taught = ledgerOf({ rows: [{ ids: [5, 6, 2], spans: { origin: { kind: 'template' } } }] });
const SEEN: Seen = {
  sawTraining: true,
  blind: false,
  failure: undefined,
  telling: tellingOf(taught),
  advice: 'no sampled tokens were seen; say so',
};

const result = (id: string, verdict: Verdict): PropertyResult => ({
  id,
  title: id,
  level: 'must',
  ...NOT_TRIED,
  verdict,
});

describe('the verdict', () => {
  test.each<[string, Verdict, number]>([
    ['mask/prompt-is-never-trained', 'pass', 0],
    ['mask/prompt-is-never-trained', 'known', 0],
    ['trace/weights-follow-the-aggregation', 'pass', 0],
    ['logprobs/divide-by-the-temperature', 'pass', 0],
    ['trace/target-is-the-next-token', 'pass', 0],
    ['update/policy-moves', 'pass', 2],
    ['trace/every-step-trains', 'pass', 2],
    ['collate/attention-covers-exactly-the-examples', 'pass', 2],
    ['update/policy-moves', 'fail', 1],
    ['update/policy-moves', 'ask', 1],
    ['mask/prompt-is-never-trained', 'unsupported', 2],
  ])('of %s alone, which says %s, is %d', (id, verdict, code) => {
    const said = verdictOf([result(id, verdict), result('kl/equals-the-estimator', 'unsupported')], SEEN);
    expect(said.code).toBe(code);
    expect(said.why !== undefined).toBe(code === 2);
  });

  test('says what was lacking', () => {
    const { why } = verdictOf([result('update/policy-moves', 'pass')], SEEN);
    expect(why).toBe(
      'No verdict: 1 property holds, and none of them says which tokens should be trained, how strongly, or what was sampled. Missing: no sampled tokens were seen; say so.',
    );
  });

  test('is none of a script that failed, or was not seen whole, and a finding is one all the same', () => {
    const good = [result('mask/prompt-is-never-trained', 'pass')];
    expect(verdictOf(good, { ...SEEN, blind: true }).code).toBe(2);
    expect(verdictOf(good, { ...SEEN, failure: 'It failed.' }).why).toContain('but the script failed');
    const bad = [result('mask/prompt-is-never-trained', 'fail')];
    expect(verdictOf(bad, { ...SEEN, blind: true, failure: 'It failed.' }).code).toBe(1);
  });
});

describe('right targets, untrained padding and a reference of the same rows', () => {
  const OF_ANY_ROW = [
    'trace/target-is-the-next-token',
    'mask/padding-is-never-trained',
    'trace/reference-sees-the-same-rows',
  ];
  const row = { ids: [5, 6, 2], spans: UNKNOWN };
  /** Its targets are known, and no weight of them. */
  const unweighed = { ...row, trained: [undefined, ...row.ids.slice(1).map((target) => ({ target }))] };
  const told = (...rows: TrainedRowSketch[]): readonly string[] => {
    const telling = tellingOf(ledgerOf({ rows }));
    expect(telling.has('loss/independent-of-micro-batches')).toBe(true);
    return OF_ANY_ROW.filter((id) => telling.has(id));
  };

  test('are a verdict on texts, by their weights', () => {
    expect(told(row)).toEqual(OF_ANY_ROW);
    expect(told(row, unweighed)).toEqual(OF_ANY_ROW);
  });

  test('are none on a policy whose samples nobody saw', () => {
    expect(told({ ...row, weight: -1 }, row)).toEqual(['trace/reference-sees-the-same-rows']);
  });

  test('are none on rows that nobody knows, of which no weight is known', () => {
    expect(told(unweighed)).toEqual([]);
  });

  test('are one on rows that somebody knows, but for ids that no weight is known of', () => {
    const known = { ...unweighed, spans: { origin: { kind: 'template' } } } as const;
    expect(told(known)).toEqual(['mask/padding-is-never-trained']);
  });
});
