// The recovery of targets and weights from gradients, next to autograd.
import { beforeAll, expect, test } from 'vitest';
import { type Answered, casesOf } from './cases.ts';

interface Errors {
  readonly target: number;
  readonly weight: number;
  readonly residual: number;
  readonly logprob: number;
  readonly temperatures: readonly number[];
  readonly band: number;
}

let cases: ReadonlyMap<string, Answered>;
beforeAll(async () => {
  cases = await casesOf('recovery_cases.py');
}, 300_000);

const out = <T>(name: string): T => cases.get(name)?.out as T;

test.each([
  ['float64', 1e-12, 1],
  ['float32', 1e-5, 1],
  ['float32 with a bias', 1e-5, 1],
  ['float32 at temperature 0.7', 1e-5, 0.7],
  ['float32 at temperature 3', 1e-5, 3],
  ['float32 with a softcap', 1e-5, 1],
  ['float32 with a scale', 1e-5, 1],
  ['float32, nearly flat', 1e-5, 1],
  ['float32, few entries', 1e-5, 1],
  ['bfloat16', 5e-2, 1],
  ['float16', 1e-2, 1],
])('%s: every target, and weights within %s', (name, weight, temperature) => {
  for (const route of ['logits', 'hidden'] as const) {
    const errors = out<Record<typeof route, Errors>>(name)[route];
    expect(errors, route).toMatchObject({ target: 0 });
    expect(errors.weight, route).toBeLessThan(weight);
    expect(errors.residual, route).toBeLessThan(errors.band);
    expect(
      errors.temperatures.filter((value) => Math.abs(value - temperature) > 0.01),
      route,
    ).toEqual([]);
  }
  expect(out<{ logits: Errors }>(name).logits.temperatures).toEqual([temperature]);
});

test.each([
  ['float64', 1e-12, 1],
  ['float32', 1e-5, 1],
  ['bfloat16', 5e-2, 1],
  ['float16', 1e-2, 1],
  ['large and flat', 1e-5, 1],
  // The likeliest of 150,000 ids nearly rule the others out: what is left of them is rounding, 4e-6 to 8e-6 by processor.
  ['large and peaked', 1e-4, 1],
  ['with a softcap', 1e-5, 1],
  ['at temperature 0.7', 1e-5, 0.7],
])('in a few directions only, %s: every target, and weights within %s', (name, weight, temperature) => {
  const errors = out<Errors>(`sketch, ${name}`);
  expect(errors).toMatchObject({ target: 0 });
  expect(errors.weight).toBeLessThan(weight);
  expect(errors.residual).toBeLessThan(errors.band);
  expect(errors.temperatures.filter((value) => Math.abs(value - temperature) > 0.01)).toEqual([]);
});

test('the cheap mode looks for few targets in the whole vocabulary, and leaves the others open', () => {
  const { n, ...rest } = out<{ n: number }>('search');
  expect(n).toBeGreaterThan(3);
  expect(rest).toEqual({ candidates: true, searched: true, rest: [-1], measured: 0 });
});

test('of two ids with one row none is said to be the target; with rows that differ, it is', () => {
  expect(out('twins')).toEqual({
    'equal, exact': [[-1], true],
    'equal, cheap': [[-1], true],
    'near, exact': [[-1], true],
    'near, cheap': [[-1], true],
    'apart, exact': [[8], true],
    'apart, cheap': [[8], true],
  });
});

test('a smoothed label is told, with its target and the weight of both', () => {
  const { logits, hidden, target, sum, epsilons } = out<{
    logits: number;
    hidden: number;
    target: number;
    sum: number;
    epsilons: readonly number[];
  }>('two targets');
  expect(target).toBe(0);
  expect(Math.max(logits, hidden)).toBeLessThan(1e-4);
  expect(sum).toBeCloseTo(40, 3);
  for (const epsilon of epsilons) expect(epsilon).toBeCloseTo(0.1, 5);
});

test.each(['softcap', 'entropy', 'teacher', 'smoothing in bfloat16'])(
  'with a %s: every target, and every weight',
  (name) => {
    const { target, weight, open, band } = out<{
      target: number;
      weight: number;
      open: number;
      band: number;
    }>(`form: ${name}`);
    expect({ target, open }).toEqual({ target: 0, open: 0 });
    expect(weight).toBeLessThan(band);
  },
);

test('what fits no form is not known', () => {
  expect(out('form: unknown')).toMatchObject({ open: 40, named: 0 });
});

interface Told {
  readonly terms: readonly string[];
  readonly target: number;
  /** Share of the positions whose weight is told, and the largest error of these. */
  readonly known: number;
  readonly weight: number;
  readonly unread: Readonly<Record<string, number>>;
}

// 4 rows of 6 columns: what is not known is the last column, a sixth of it.
const OTHERS = 0.833;

test.each<[string, Omit<Told, 'target' | 'weight'>]>([
  ['the last target was not kept', { terms: [], known: OTHERS, unread: { value: 4 } }],
  ['the last target was not kept, bfloat16', { terms: [], known: OTHERS, unread: { value: 4 } }],
  ['the last target was not kept, peaked', { terms: [], known: OTHERS, unread: { value: 4 } }],
  ['the last target was not kept, alone', { terms: [], known: 0, unread: { value: 4 } }],
  ['not kept beside smoothing', { terms: ['smoothing'], known: OTHERS, unread: { value: 4 } }],
  ['not kept beside entropy', { terms: ['entropy'], known: OTHERS, unread: { value: 4 } }],
])('no form is fitted to what was not kept: %s', (name, wanted) => {
  const { target, weight, ...told } = out<Told>(`columns: ${name}`);
  expect(told).toEqual(wanted);
  expect(target).toBe(0);
  expect(weight).toBeLessThan(name.includes('bfloat16') ? 5e-2 : 1e-5);
});

test.each([
  'one column with smoothing',
  'one column with entropy',
  'one column with a softcap',
  'hidden, one column with entropy',
  'hidden, one column with a softcap',
])('no form is fitted to a single column: %s', (name) => {
  expect(out<Told>(`columns: ${name}`)).toMatchObject({ terms: [], known: 0, target: 0 });
});

test.each<[string, readonly string[]]>([
  ['even with smoothing', ['smoothing']],
  ['even with entropy', ['entropy']],
  ['hidden, the last target is no candidate', []],
  ['hidden, the last target is no candidate, alone', []],
  ['hidden, smoothing', ['smoothing']],
  ['hidden, entropy', ['entropy']],
])('what is in the loss is told, with every weight: %s', (name, terms) => {
  const { weight, ...told } = out<Told>(`columns: ${name}`);
  expect(told).toEqual({ terms, target: 0, known: 1, unread: {} });
  expect(weight).toBeLessThan(1e-4);
});

test('where a temperature and a form explain the same, neither is told, and no weight', () => {
  expect(out<Told>('columns: even with smoothing, bfloat16')).toMatchObject({
    terms: [],
    target: 0,
    known: 0,
    unread: { temperature: 24 },
  });
});

test('positions that are not finite are counted, and not listed', () => {
  expect(out('broken')).toEqual([
    [2, 38],
    [2, 38],
  ]);
});

test('a nearly certain token is told from the one that is trained against it', () => {
  const { targets, weights } = out<{ targets: number[]; weights: number[] }>('confident');
  expect(targets).toEqual([6, 4]);
  expect(weights[0]).toBeCloseTo(1, 4);
  expect(weights[1]).toBeCloseTo(-2, 4);
});

test('150,000 tokens take a bounded part of memory', () => {
  const { grown, weight, n } = out<{ grown: number; weight: number; n: number }>('large');
  expect(n).toBe(3840);
  expect(weight).toBeLessThan(1e-5);
  expect(grown).toBeLessThan(512 * 2 ** 20);
});
