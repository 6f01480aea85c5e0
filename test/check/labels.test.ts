import { expect, test } from 'vitest';
import { countLabels, thinSentence } from '../../src/check/labels.ts';
import type { Property, PropertyResult } from '../../src/index.ts';
import { reject, run, worldOf } from '../../src/index.ts';
import { echoes, extracting, type ToyCase } from './toy.ts';

type Trainer = Parameters<typeof run>[0]['trainer'];

async function check(
  property: Property<ToyCase>,
  trainer: Trainer = extracting((ids) => ids),
  cases = 100,
  seed = 7,
): Promise<PropertyResult> {
  const properties = [property as unknown as Property];
  const [result] = await run(
    { trainer, tokenizer: undefined, properties, seed, cases, command: 'test' },
    () => undefined,
  );
  if (result === undefined) throw new Error('no result');
  return result;
}

const world = worldOf(
  extracting((ids) => ids),
  undefined,
);

test('cases that certainly lack a label make the property thin, with the numbers', async () => {
  const result = await check({ ...echoes, coverage: { never: 0.2, long: 0.2 } });
  expect(result).toMatchObject({
    verdict: 'thin',
    thin: [{ label: 'never', share: 0, least: 0.2, judged: 100, refused: 0 }],
    coverage: { never: 0.2, long: 0.2 },
  });
  expect(result.reason).toBe(
    'only 0 % of the 100 cases that were judged had "never", at least 20 % are needed: the generated cases say less than the property promises',
  );
});

test('bad luck is not thin: no seed of a label that is as common as promised is blamed', async () => {
  // Ids of 9 lengths, evenly: 5 in 9 are longer than 3.
  const property = { ...echoes, coverage: { long: 5 / 9 } };
  for (let seed = 0; seed < 60; seed++)
    expect((await check(property, undefined, 100, seed)).verdict).toBe('pass');
});

test('few cases say nothing about shares', async () => {
  const property = { ...echoes, coverage: { never: 0.9 } };
  expect((await check(property, undefined, 49)).verdict).toBe('pass');
  expect((await check(property, undefined, 50)).verdict).toBe('thin');
});

test('a trainer that refuses exactly the interesting cases is named', async () => {
  const picky = extracting((ids) => (ids.length > 3 ? reject('too long') : ids));
  const result = await check(echoes, picky);
  expect(result).toMatchObject({ verdict: 'thin', thin: [{ label: 'long', share: 0 }] });
  expect(result.reason).toMatch(
    /^only 0 % .* the trainer refused \d\d that had it, and what it refuses is not/,
  );
});

test('unless the protocol lets it refuse them, all of them', async () => {
  const picky = (least: number) => extracting((ids) => (ids.length > least ? reject('too long') : ids));
  const property = { ...echoes, mayRefuse: ['long'] };
  expect((await check(property, picky(3))).verdict).toBe('pass');
  // What is never drawn was not refused.
  expect((await check({ ...property, coverage: { never: 0.2 }, mayRefuse: ['never'] })).verdict).toBe('thin');
});

test('a trainer that refuses at random is not blamed, however much', async () => {
  for (const [kept, verdict] of [
    [2, 'pass'],
    [4, 'pass'],
    [30, 'skipped'],
  ] as const) {
    let asked = 0;
    const moody = extracting((ids) => (asked++ % kept === 0 ? ids : reject('not now')));
    expect((await check(echoes, moody, 300)).verdict, `one of ${kept} answered`).toBe(verdict);
  }
});

test('what a check sets aside does not count', () => {
  const labels = countLabels(echoes as unknown as Property, world);
  const long = { ids: [1, 2, 3, 4] };
  for (let at = 0; at < 100; at++) {
    labels.add(long, { kind: 'holds' });
    labels.add({ ids: [1] }, { kind: 'refused', why: 'says nothing', setAside: 'case' });
  }
  expect(labels.counts()).toEqual({ long: 100 });
  expect(labels.thin()).toEqual([]);
});

test('labels and thresholds may depend on the world', async () => {
  const property: Property<ToyCase> = {
    ...echoes,
    labels: (_, { hello }) => [hello.name],
    coverage: ({ hello }) => (hello.name === 'toy' ? { toy: 1 } : { other: 1 }),
  };
  expect(await check(property)).toMatchObject({
    verdict: 'pass',
    labels: { toy: 100 },
    coverage: { toy: 1 },
  });
});

test('one judged case is one case', () => {
  const thin = { label: 'x', share: 0, least: 0.5, judged: 1, refused: 99 };
  expect(thinSentence(thin)).toContain('of the 1 case that was judged');
});
