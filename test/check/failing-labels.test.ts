import { expect, test } from 'vitest';
import { compareLabels, failingLabelsSentence, sharedLabels } from '../../src/check/failing-labels.ts';
import { type Property, type PropertyResult, run, type Trainer, worldOf } from '../../src/index.ts';
import { echoes, extracting } from './toy.ts';

const world = worldOf(
  extracting((ids) => ids),
  undefined,
);

async function check(trainer: Trainer): Promise<PropertyResult> {
  const properties = [echoes as unknown as Property];
  const [result] = await run(
    { trainer, tokenizer: undefined, properties, seed: 7, cases: 100, command: 'test' },
    () => undefined,
  );
  if (result === undefined) throw new Error('no result');
  return result;
}

const tally = (cases: number, labels: Readonly<Record<string, number>>) => ({
  cases,
  labels: new Map(Object.entries(labels)),
});

test('what failing cases share and those that hold lack is told, as counted', async () => {
  // 1 in 9 is empty, and only those fail.
  const result = await check(extracting((ids) => (ids.length === 0 ? [1] : ids)));
  expect(result.verdict).toBe('fail');
  const [shared, ...more] = result.failingLabels ?? [];
  expect(more).toEqual([]);
  expect(shared).toMatchObject({ label: 'empty', holdingWith: 0 });
  expect(shared?.failing).toBe(result.labels.empty);
  expect(failingLabelsSentence(result.failingLabels)).toMatch(
    /^All \d+ failing cases have: empty \(0 of \d+ passing cases\)$/,
  );
});

test('all labels of failing and of holding cases are counted, where there are enough of both', async () => {
  const result = await check(extracting((ids) => (ids.length === 0 ? [1] : ids)));
  const { failing = 0, holding = 0, labels = {} } = result.comparedLabels ?? {};
  expect(failing + holding).toBe(result.cases);
  expect(labels.empty).toEqual({ failing, holding: 0 });
  for (const [label, counts] of Object.entries(labels))
    expect(counts.failing + counts.holding, label).toBe(result.labels[label]);
  const all = await check(extracting((ids) => [...ids, 1]));
  expect(all.verdict).toBe('fail');
  expect(all.comparedLabels).toBeUndefined();
});

test('nothing is told where the failing cases share nothing, or only what most cases have', async () => {
  // Every id above 50 comes back wrong: long and short cases have some.
  const { failingLabels } = await check(extracting((ids) => ids.map((id) => Math.min(id, 50))));
  expect(failingLabels).toBeUndefined();
  expect(sharedLabels(tally(7, { common: 7 }), tally(61, { common: 40 }))).toEqual([]);
});

test('a label that all failing cases have is told only where chance is ruled out', () => {
  const labels = (failing: number, holding: number, of: number) =>
    sharedLabels(tally(failing, { rare: failing }), tally(of, { rare: holding }));
  expect(labels(7, 0, 61)).toEqual([{ label: 'rare', failing: 7, holding: 61, holdingWith: 0 }]);
  expect(labels(7, 8, 61)).toHaveLength(1);
  // 3 of 3 beside 20 of 61: as likely as 1 in 22.
  expect(labels(3, 20, 61)).toEqual([]);
  expect(labels(2, 0, 61)).toEqual([]);
  expect(labels(9, 0, 5)).toEqual([]);
  // The more labels are looked at, the more of them fit by chance.
  const other = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`other ${at}`, 1]));
  expect(sharedLabels(tally(3, { rare: 3, ...other }), tally(30, { rare: 0 }))).toEqual([]);
});

test('cases in another trouble are no cases that hold, nor failing ones', async () => {
  const compared = compareLabels(
    { ...echoes, labels: (ids: unknown) => ids as string[] } as unknown as Property,
    world,
  );
  const fails = (kind: string) => ({ kind: 'fails', finding: { kind, sentence: '' } }) as const;
  for (let at = 0; at < 6; at++) compared.add(['seen'], fails('a'), at);
  for (let at = 6; at < 12; at++) compared.add([], fails('b'), at);
  for (let at = 12; at < 42; at++) compared.add([], { kind: 'holds' }, at);
  const shared = [{ label: 'seen', failing: 6, holding: 30, holdingWith: 0 }];
  expect(compared.shared(fails('a'), 42)).toEqual(shared);
  expect(compared.shared(fails('b'), 42)).toEqual([]);
  // Some of those that were drawn did not run: which ones is a matter of time.
  expect(compared.shared(fails('a'), 43)).toEqual([]);
});
