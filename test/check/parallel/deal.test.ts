// Parts of a run are disjoint, together all of it, and as even as their dearest property allows.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  dealtTo,
  longestFirst,
  mostTellingFirst,
  type Queue,
  workOf,
} from '../../../src/check/parallel/deal.ts';
import type { Property } from '../../../src/index.ts';
import type { Op } from '../../../src/protocol/message.ts';
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

/** All that wait, in the order in which they are taken, each ended before the next. */
function taken(queue: Queue, took: (property: Property) => number = () => 1): string[] {
  const ids: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) {
    ids.push(next.id);
    queue.ended(next, took(next));
  }
  return ids;
}

const work = (property: Property) => workOf(property, 100, { extract: {}, collate: {}, loss: {} });
const noCosts = { millisecondsOf: () => undefined, caught: () => 0 };

test('what takes long begins first, by what was measured, and what was not in proportion to those of its op', () => {
  const [quick, slow, unknown, heavy] = [named('a'), named('b'), named('c'), named('d', { mostCases: 20 })];
  const costs = {
    millisecondsOf: (id: string) => ({ a: 1, b: 30 })[id],
    caught: () => 0,
  };
  const options = { work, costs, cases: 100 };
  expect(taken(longestFirst([quick, slow, unknown, heavy], options))).toEqual(['d', 'b', 'c', 'a']);
});

test('where nothing was measured, one of each op is first, and says how long the others take; what is not offered is last', () => {
  const ofOp = (op: string, count: number): Property[] =>
    Array.from({ length: count }, (_, at) => named(`${op}/${at}`, { ops: [op as Op] }));
  const properties = [...ofOp('kl', 2), ...ofOp('extract', 3), ...ofOp('collate', 2), ...ofOp('loss', 3)];
  const took = ({ ops }: Property): number => ({ extract: 5, collate: 50, loss: 500 })[ops[0] as string] ?? 0;
  const order = taken(longestFirst(properties, { work, costs: noCosts, cases: 100 }), took);
  expect(order.slice(0, 3)).toEqual(['extract/0', 'collate/0', 'loss/0']);
  expect(order.slice(3)).toEqual(['loss/1', 'loss/2', 'collate/1', 'extract/1', 'extract/2', 'kl/0', 'kl/1']);
  expect(taken(longestFirst(properties, { work, costs: undefined, cases: 100 }), took)).toEqual(order);
});

test('each is taken once, those too that wait again, whatever is known and whenever they end', () => {
  fc.assert(
    fc.property(
      PROPERTIES,
      fc.infiniteStream(fc.record({ ms: fc.nat(), back: fc.boolean() })),
      fc.func(fc.option(fc.nat(), { nil: undefined })),
      (properties, stream, millisecondsOf) => {
        const queue = longestFirst(properties, { work, costs: { ...noCosts, millisecondsOf }, cases: 100 });
        const again = new Set<Property>();
        const ids: string[] = [];
        for (let next = queue.take(); next !== undefined; next = queue.take()) {
          const { ms, back } = stream.next().value as { ms: number; back: boolean };
          if (back && !again.has(next)) {
            again.add(next);
            queue.putBack(next);
            continue;
          }
          ids.push(next.id);
          if (ms % 2 === 0) queue.ended(next, ms);
        }
        expect(ids.toSorted()).toEqual(properties.map(({ id }) => id).toSorted());
        expect(queue.left()).toBe(0);
      },
    ),
  );
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
