// Two runs as numbers: what agrees, where they part first, and what nobody can say.
import { describe, expect, test } from 'vitest';
import { distancesOf } from '../../src/twin/distance.ts';
import type { Print, TwinRow, TwinRun, TwinStep } from '../../src/twin/run.ts';
import { sizeOutcome } from '../../src/twin/size.ts';
import { type Outcome, outcomeOf, outcomeOfRows } from '../../src/twin/verdict.ts';

/** A tensor of one direction and this size: all sums of a fingerprint are alike. */
const print = (size: number): Print => [Math.abs(size), ...Array<number>(8).fill(size)];
const prints = (sizes: Readonly<Record<string, number>>): ReadonlyMap<string, Print> =>
  new Map(Object.entries(sizes).map(([name, size]) => [`0 ${name}`, print(size)]));

const row = (ids: readonly number[], more: Partial<TwinRow> = {}): TwinRow => ({
  rank: 0,
  forward: 0,
  row: 0,
  ids,
  tokens: ids.slice(1).map((target, at) => ({ at: at + 1, target, weight: 0.25, logprob: -2 })),
  outputs: new Map(),
  unmasked: undefined,
  ...more,
});

const step = (more: Partial<TwinStep> = {}): TwinStep => ({
  index: 0,
  rows: [row([1, 2, 3]), row([4, 5, 6])],
  gradients: prints({ embed: 2, head: 1 }),
  before: prints({ embed: 5, head: 5 }),
  after: prints({ embed: 5.1, head: 5.1 }),
  rates: [0.1],
  made: true,
  ...more,
});

const run = (...steps: readonly Partial<TwinStep>[]): TwinRun => ({
  steps: steps.map((more, index) => step({ index, ...(index > 0 ? { before: new Map() } : {}), ...more })),
  applied: true,
  hasDropout: false,
  could: new Set(),
  hasArguments: false,
  samples: false,
  ledger: {} as TwinRun['ledger'],
});

/** The same with its gradients and weights moved by this share. */
const rounded = (share: number, ...steps: readonly Partial<TwinStep>[]): TwinRun => ({
  ...run(...steps),
  steps: run(...steps).steps.map((each) => ({
    ...each,
    gradients: prints({ embed: 2 * (1 + share), head: 1 + share }),
    after: prints({ embed: 5.1 * (1 + share), head: 5.1 * (1 + share) }),
  })),
});

const compare = (first: TwinRun, second: TwinRun, share = 1e-7): Outcome =>
  outcomeOf(distancesOf(first, second), distancesOf(first, rounded(share, ...first.steps)));

describe('agrees', () => {
  test('to the last bit', () => {
    expect(compare(run({}, {}), run({}, {}))).toEqual({ kind: 'agree', steps: 2, units: 0 });
  });

  test('where rounding explains the difference, in any order of rows and micro-batches', () => {
    const other = run({ rows: [row([4, 5, 6], { forward: 1 }), row([1, 2, 3], { rank: 1 })] });
    expect(compare(run({}), other)).toMatchObject({ kind: 'agree', steps: 1 });
    expect(compare(run({}), rounded(4e-7, {}))).toMatchObject({ kind: 'agree' });
    // In bfloat16 rounding is larger, and so is what it explains.
    expect(compare(run({}), rounded(3e-2, {}), 1e-2)).toMatchObject({ kind: 'agree' });
    expect(compare(run({}), rounded(3e-2, {}), 1e-4)).toMatchObject({ kind: 'parts' });
  });

  test('until rounding alone takes the runs apart', () => {
    const noise = distancesOf(run({}, {}), {
      ...run({}, {}),
      steps: [...rounded(1e-7, {}).steps, ...rounded(0.3, {}).steps],
    });
    const far = run({}, { gradients: prints({ embed: 9, head: 9 }) });
    expect(outcomeOf(distancesOf(run({}, {}), far), noise)).toEqual({
      kind: 'agree',
      steps: 1,
      units: 0,
      until: 1,
    });
  });

  test('a tensor whose gradient is all rounding gets an update of any sign', () => {
    const made = (bias: number, after: number): Partial<TwinStep> => ({
      gradients: prints({ embed: 2, bias }),
      after: prints({ embed: 5, bias: after }),
    });
    const noise = distancesOf(run(made(1e-6, 1)), run(made(-1e-6, 1.001)));
    const outcome = outcomeOf(distancesOf(run(made(1e-6, 1)), run(made(-1.5e-6, 0.98))), noise);
    expect(outcome.kind).toBe('agree');
  });
});

describe('parts', () => {
  const first = (second: Partial<TwinStep>, base: Partial<TwinStep> = {}): unknown => {
    const outcome = compare(run(base), run(second));
    return outcome.kind === 'parts' ? outcome.difference : outcome;
  };

  test('at the weights that it begins with, before all else', () => {
    const other = {
      before: prints({ embed: 5, head: 6 }),
      gradients: prints({ embed: 9, head: 9 }),
      rows: [],
    };
    expect(first(other)).toMatchObject({ what: 'start', tensors: [{ name: '0 head' }], of: 2 });
  });

  test('at rows, and at their targets', () => {
    expect(first({ rows: [row([1, 2, 3])] })).toMatchObject({ what: 'rows', targets: false });
    const shifted = row([1, 2, 3], { tokens: [{ at: 1, target: 3, weight: 0.25, logprob: -2 }] });
    expect(first({ rows: [shifted, row([4, 5, 6])] })).toMatchObject({ what: 'rows', targets: true });
  });

  test('at probabilities, with the first module whose output is apart', () => {
    const of = (logprob: number, layer: number): TwinRow =>
      row([1, 2, 3], {
        tokens: [{ at: 1, target: 2, weight: 0.25, logprob }],
        outputs: new Map([
          ['embed', print(1)],
          ['layer', print(layer)],
          ['head', print(layer)],
        ]),
      });
    expect(first({ rows: [of(-2.1, 1.2)] }, { rows: [of(-2, 1)] })).toMatchObject({
      what: 'logprobs',
      module: 'layer',
      tokens: 1,
      of: 1,
    });
  });

  test('at the weights of tokens', () => {
    const heavy = row([1, 2, 3], {
      tokens: [
        { at: 1, target: 2, weight: 0.5, logprob: -2 },
        { at: 2, target: 3, weight: 0.25, logprob: -2 },
      ],
    });
    expect(first({ rows: [heavy, row([4, 5, 6])] })).toMatchObject({ what: 'weights', tokens: 1, of: 4 });
  });

  test('at gradients: one factor, one tensor, lost micro-batches', () => {
    expect(first({ gradients: prints({ embed: 1, head: 0.5 }) })).toMatchObject({
      what: 'gradients',
      factor: 0.5,
    });
    const one = first({ gradients: prints({ embed: 2, head: 3 }) });
    expect(one).toMatchObject({ what: 'gradients', tensors: [{ name: '0 head', norms: [1, 3] }], of: 2 });
    expect(first({ gradients: prints({ embed: 3, head: 1 }) })).toMatchObject({ begins: '0 embed' });
    expect(one).not.toHaveProperty('begins');
    const lost = { gradients: prints({ embed: 1, head: 0.9 }), delivered: [1, 0, 1] };
    expect(first(lost)).toMatchObject({ what: 'gradients', lost: [1] });
    expect(first({ gradients: prints({ embed: 2 }) })).toMatchObject({ what: 'gradients' });
  });

  test('at gradients: the module whose backward pass goes wrong, whatever share of the loss a row has', () => {
    const of = (share: number, input: number): readonly TwinRow[] =>
      [row([1, 2, 3]), row([4, 5, 6])].map((each, at) => ({
        ...each,
        backward: new Map([
          ['output head', print(at === 0 ? share : 1)],
          ['output mlp', print(2 * (at === 0 ? share : 1))],
          ['input mlp', print(input * (at === 0 ? share : 1))],
        ]),
      }));
    const other = { gradients: prints({ embed: 3, head: 1 }) };
    expect(first({ ...other, rows: of(0.5, 4) }, { rows: of(1, 3) })).toMatchObject({
      backward: { kind: 'module', module: 'mlp' },
    });
    expect(first({ ...other, rows: of(0.5, 3) }, { rows: of(1, 3) })).toMatchObject({
      backward: { kind: 'nowhere' },
    });
    expect(first(other)).not.toHaveProperty('backward');
  });

  test('at learning rates, and at the weights after the step', () => {
    expect(first({ rates: [0.05] })).toMatchObject({ what: 'rates', rates: [[0.1], [0.05]] });
    expect(first({ after: prints({ embed: 5.2, head: 5.2 }) })).toMatchObject({ what: 'updates', of: 2 });
  });
});

describe('no verdict', () => {
  test('without a step of both, and without a gradient', () => {
    expect(compare(run({ made: false }), run({}))).toMatchObject({ kind: 'untold' });
    const bare = { gradients: new Map(), after: new Map() };
    expect(outcomeOf(distancesOf(run(bare), run(bare)), distancesOf(run(bare), run(bare)))).toMatchObject({
      kind: 'untold',
      why: expect.stringContaining('no gradient was there'),
    });
  });
});

describe('where rounding alone changes the first step', () => {
  const noise = distancesOf(run({}), rounded(0.3, {}));
  const sampled = distancesOf(run({}), run({ rows: [row([1, 2, 9])] }));

  test.each([
    ['moves its gradients', noise],
    ['has other tokens sampled', sampled],
  ])('and %s, nothing can be compared', (_, rounding) => {
    const far = distancesOf(run({}), run({ gradients: prints({ embed: 9, head: 9 }) }));
    for (const judge of [outcomeOf, outcomeOfRows])
      expect(judge(far, rounding)).toMatchObject({
        kind: 'untold',
        why: expect.stringContaining('rounding alone'),
      });
  });
});

describe('rows among others', () => {
  const noise = distancesOf(run({}), rounded(1e-7, {}));
  const beside = (logprob: number): TwinRun =>
    run({
      rows: [
        row([1, 2, 3], {
          tokens: [
            { at: 1, target: 2, weight: 1, logprob },
            { at: 2, target: 3, weight: 1, logprob },
          ],
        }),
      ],
    });

  test('keep their probabilities, whatever else is trained', () => {
    expect(outcomeOfRows(distancesOf(run({}), beside(-2)), noise)).toEqual({
      kind: 'agree',
      steps: 1,
      units: 0,
    });
    expect(outcomeOfRows(distancesOf(run({}), beside(-2.01)), noise)).toMatchObject({ kind: 'parts' });
  });

  test('are compared where both runs have one', () => {
    const others = run({ rows: [row([7, 8, 9])] });
    expect(outcomeOfRows(distancesOf(run({}), others), noise)).toMatchObject({ kind: 'untold' });
  });
});

describe('a change of precision', () => {
  const sized = (first: Partial<TwinStep>, second: Partial<TwinStep>): Outcome =>
    sizeOutcome(run(first), run(second), [], ['float32', 'bfloat16']);

  test('is a size: of all gradients, of the tensor that moves most, of signs', () => {
    const before = { gradients: prints({ embed: 3, head: 4 }), signs: prints({ embed: 10 }) };
    const after = { gradients: prints({ embed: 3, head: 3.5 }), signs: prints({ embed: 8 }) };
    const outcome = sized(before, after);
    expect(outcome).toMatchObject({ kind: 'sized', step: 0, worst: { name: '0 head', relative: 0.125 } });
    if (outcome.kind !== 'sized') throw new Error('no size');
    expect(outcome.gradients).toBeCloseTo(0.5 / 5, 10);
    // A difference of 2 in 10: of 100 signs, one is the opposite.
    expect(outcome.signs).toBeCloseTo(0.01, 10);
  });

  test.each([
    ['with', true],
    ['without', false],
  ])('parts the runs where only the one %s it has NaN or infinity', (_, inSecond) => {
    const whole = { gradients: prints({ embed: 2, head: 1 }) };
    for (const broken of [prints({ embed: 2 }), prints({ embed: 2, head: Number.POSITIVE_INFINITY })])
      expect(
        sized(inSecond ? whole : { gradients: broken }, inSecond ? { gradients: broken } : whole),
      ).toEqual({
        kind: 'parts',
        difference: { what: 'finite', step: 0, with: inSecond, names: ['0 head'] },
      });
  });

  test('says nothing where no row is in both', () => {
    expect(sized({}, { rows: [row([7, 8, 9])] })).toMatchObject({ kind: 'untold' });
  });
});
