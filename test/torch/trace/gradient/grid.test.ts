// What is read off a loss outside of the model does not depend on how a script writes the same training: over the whole grid it
// is the truth, or not known.
import { beforeAll, expect, test } from 'vitest';
import { type Answered, casesOf } from './cases.ts';

interface Cell {
  /** Positions that are listed wrongly, and targets that are told and are others. */
  readonly position: number;
  readonly target: number;
  /** The largest relative error of a weight that is told. */
  readonly weight: number;
  /** Positions of which target or weight is not known, of all. */
  readonly open: number;
  readonly n: number;
  /** What else is said to be in the loss. */
  readonly terms: readonly string[];
}

const EXACT = 1e-5;

let cases: ReadonlyMap<string, Answered>;
beforeAll(async () => {
  cases = await casesOf('grid_cases.py');
}, 900_000);

const cells = (): [string, Cell][] => [...cases].map(([name, { out }]) => [name, out as Cell]);

test('no cell gave the tracer trouble, and none ended in an exception', () => {
  expect(cases.size).toBeGreaterThan(300);
  for (const [name, { troubles, out }] of cases) {
    expect(troubles, name).toEqual([]);
    expect(out, name).not.toHaveProperty('error');
  }
});

test('no cell has a wrong target, a wrong weight, or a term that is not in the loss', () => {
  const wrong = cells().filter(
    ([, { position, target, weight, terms, n }]) =>
      position > 0 || target > 0 || !(weight < EXACT) || terms.length > 0 || n === 0,
  );
  expect(wrong).toEqual([]);
});

test('where the head is a module, everything is known', () => {
  const own = cells().filter(([name]) => name.endsWith(', module'));
  expect(own.length).toBeGreaterThan(100);
  expect(own.filter(([, { open }]) => open > 0)).toEqual([]);
});

test('where it is a bare product, what is trained toward the next token is known, in the last column, too', () => {
  const next = cells().filter(([name]) => name.endsWith(', bare') && !name.includes('of another text'));
  expect(next.length).toBeGreaterThan(50);
  expect(next.filter(([, { open }]) => open > 0)).toEqual([]);
});

test('what was not kept is not known: some cells have such positions', () => {
  expect(cells().filter(([name, { open }]) => name.endsWith('nothing whole') && open > 0)).not.toEqual([]);
});
