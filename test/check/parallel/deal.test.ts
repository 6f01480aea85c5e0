// Parts of a run are disjoint, together all of it, and as even as their dearest property allows.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dealtTo, longestFirst, mostTellingFirst, workOf } from '../../../src/check/parallel/deal.ts';
import type { Property } from '../../../src/index.ts';
import { echoes } from '../toy.ts';

const named = (id: string, more: Partial<Property> = {}): Property => ({
  ...(echoes as Property),
  id,
  ...more,
});

const PROPERTIES = fc
  .array(
    fc.record({
      mostCases: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined }),
      offered: fc.boolean(),
    }),
    {
      maxLength: 60,
    },
  )
  .map((all) =>
    all.map(({ mostCases, offered }, at) =>
      named(`extract/${at}`, {
        ...(mostCases === undefined ? {} : { mostCases }),
        ops: offered ? ['extract'] : ['kl'],
      }),
    ),
  );

test('each property is in one part, in its order; no part has more than another by the dearest of its properties', () => {
  fc.assert(
    fc.property(PROPERTIES, fc.integer({ min: 1, max: 12 }), (properties, of) => {
      const work = (property: Property): number => workOf(property, 100, { extract: {} });
      const parts = Array.from({ length: of }, (_, at) => dealtTo({ index: at + 1, of }, properties, work));
      const ids = parts.flat().map(({ id }) => id);
      expect(ids.toSorted()).toEqual(properties.map(({ id }) => id).toSorted());
      for (const part of parts)
        expect(part).toEqual(properties.filter((property) => part.includes(property)));
      const loads = parts.map((part) => part.reduce((sum, property) => sum + work(property), 0));
      const dearest = Math.max(0, ...properties.map(work));
      expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(dearest + 1e-6);
    }),
  );
});

test('what takes long begins first, by what was measured, and what was not in proportion to it', () => {
  const [quick, slow, unknown, heavy] = [named('a'), named('b'), named('c'), named('d', { mostCases: 20 })];
  const costs = {
    millisecondsOf: (id: string) => ({ a: 1, b: 30 })[id],
    caught: () => 0,
  };
  const options = { work: (property: Property) => workOf(property, 100, { extract: {} }), costs, cases: 100 };
  expect(longestFirst([quick, slow, unknown, heavy], options).map(({ id }) => id)).toEqual([
    'd',
    'b',
    'c',
    'a',
  ]);
});

test('where time is short, what was caught before comes first, then what catches most for its time', () => {
  const plain = named('plain');
  const caught = named('caught');
  const telling = named('telling', { catches: ['MSK-01', 'MSK-02'] });
  const dear = named('dear', { catches: ['MSK-01', 'MSK-02'], mostCases: 50 });
  const options = {
    work: (property: Property) => workOf(property, 100, { extract: {} }),
    costs: { millisecondsOf: () => undefined, caught: (id: string) => (id === 'caught' ? 2 : 0) },
    cases: 100,
  };
  expect(mostTellingFirst([dear, plain, telling, caught], options).map(({ id }) => id)).toEqual([
    'caught',
    'telling',
    'plain',
    'dear',
  ]);
});
