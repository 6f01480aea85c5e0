// The rules about what an optimiser's step did by tensor, and about what was seen of it: each kills a fault, and leaves
// those alone that only look like it.
import { describe, expect, test } from 'vitest';
import { show } from '../../../src/index.ts';
import type { LedgerStep, TensorUpdate } from '../../../src/trace/ledger.ts';
import { type LedgerSketch, rankStep } from '../traced.ts';
import { idsOf, supervised } from '../weighed.ts';
import { holds, judged, silent, worst } from './judged.ts';
import { tensor, update } from './tensors.ts';

type Done = NonNullable<ReturnType<typeof rankStep>['done']>;
const made = (index: number, done: Partial<Done> = {}): LedgerStep => {
  const { done: usual, ...rest } = rankStep(0);
  return {
    index,
    ranks: [{ ...rest, done: { gradientNorm: 1, changed: true, learningRates: [1e-3], ...usual, ...done } }],
  };
};

const { rows = [] } = supervised({ lengths: [[[5, 3]]] });
const again = rows.map((row) => ({ ...row, step: 1, forward: 1 }));
const one: LedgerSketch = { rows, steps: [made(0)] };
const two: LedgerSketch = { rows: [...rows, ...again], steps: [made(0), made(1)] };
const noticed = (id: string, sketch: LedgerSketch): string =>
  (judged(id, sketch).notices ?? []).map(({ sentence }) => sentence).join(' ');

describe('gradients reach the step', () => {
  const ID = 'update/gradients-reach-the-step';
  const bare = [update([(({ norm: _, ...rest }) => rest)(tensor('a', { moved: false }))])];

  test('zeroed before it, or in tensors that it does not hold', () => {
    const zeroed = { gradientNorm: null, changed: false, zeroed: 'train.py:8', place: 'train.py:9' };
    expect(worst(ID, { rows, steps: [made(0, zeroed)] }).sentence).toContain(
      'were set to nothing at train.py:8, after the backward pass and before step() at train.py:9',
    );
    const none = { gradientNorm: null, changed: false };
    const others = [update([tensor('a', { held: 0 }), (({ norm: _, ...rest }) => rest)(tensor('b'))])];
    expect(worst(ID, { rows, steps: [made(0, none)], updates: others }).kind).toBe('elsewhere');
    expect(worst(ID, { rows, steps: [made(0, { ...none, gradientNorm: 0 })], updates: bare }).kind).toBe(
      'none',
    );
  });

  test.each([
    ['of all', [0, 0, 0]],
    ['of one', [0]],
    ['of those that have one', [0, undefined]],
  ])('gradients that are exactly 0, %s: they are told as such, and zero_grad() is not blamed', (_, norms) => {
    const tensors = norms.map((norm, at) =>
      norm === undefined
        ? (({ norm: __, ...rest }) => rest)(tensor(`t${at}`, { moved: false }))
        : tensor(`t${at}`, { norm, peak: 0, moved: false }),
    );
    const steps = [made(0, { gradientNorm: 0, changed: false, place: 'train.py:9' })];
    const found = worst(ID, { rows, steps, updates: [update(tensors)] });
    expect(found.kind).toBe('zero');
    expect(found.sentence).toContain('holds are exactly 0 at step() at train.py:9: t0');
    expect(found.note).toContain('both begin at 0');
  });

  test('a gradient of 0 in some tensors, beside others: as of what a router did not choose', () => {
    const some = update([tensor('a'), tensor('b', { norm: 0, peak: 0, moved: false })]);
    holds(ID, { ...one, updates: [some] });
  });

  test('a gradient, copies, a closure, an engine that moves parameters without one', () => {
    holds(ID, one);
    silent(
      ID,
      { rows, steps: [made(0, { gradientNorm: null, changed: false, copies: true })] },
      'the optimiser steps on copies, or calls a closure',
    );
    silent(
      ID,
      { rows, steps: [made(0, { gradientNorm: null, changed: false, closure: true })] },
      'the optimiser steps on copies, or calls a closure',
    );
    holds(ID, { rows, steps: [made(0, { gradientNorm: null, changed: true })] });
    // An engine whose partitions say nothing, and an old trace.
    silent(
      ID,
      { rows, steps: [made(0, { gradientNorm: null, changed: false })] },
      'neither a gradient nor a change was recorded',
    );
  });
});

describe('every micro-batch reaches the step', () => {
  const ID = 'update/every-micro-batch-reaches-the-step';
  const lost = (index: number) => made(index, { dropped: [7], zeroed: 'train.py:5' });

  test('all but the last are zeroed in each step; once is a notice', () => {
    expect(worst(ID, { ...two, steps: [lost(0), lost(1)] }).sentence).toContain(
      'Step 0 has only 1 of its 2 micro-batches',
    );
    const once = { ...two, steps: [lost(0), made(1)] };
    silent(ID, once, 'a micro-batch may be skipped on purpose now and then');
    expect(noticed(ID, once)).toContain('set to nothing at train.py:5');
  });

  test('weights that moved between, and gradients that were put together by hand, are meant', () => {
    const steps = [lost(0), lost(1)];
    const both = (what: string, values = {}) => [0, 1].map((step) => ({ what, step, values }));
    silent(
      ID,
      { ...two, steps, events: both('between') },
      'the script changes weights or gradients within the step',
    );
    silent(
      ID,
      { ...two, steps, events: both('reworked', { cosine: 0.3, factor: 1 }) },
      'the script changes weights or gradients within the step',
    );
  });
});

test('gradients of the step before: left over, or used again', () => {
  const ID = 'update/no-gradient-is-used-twice';
  const seen = { step: 1, names: ['a'], place: 'train.py:9', values: { tensors: 1, of: 2 } };
  expect(worst(ID, { ...two, events: [{ what: 'left-over', ...seen }] }).sentence).toContain(
    '1 of 2 tensors (a)',
  );
  expect(worst(ID, { ...two, events: [{ what: 'again', ...seen }] }).sentence).toContain(
    'no backward pass between',
  );
  const updates = [update([tensor('a')]), update([tensor('a')], { step: 1 })];
  holds(ID, { ...two, updates });
  // What nobody looked at: an engine's partitions, copies, the gradients inside of a closure.
  silent(ID, two, 'the gradients of the step were not recorded tensor by tensor');
  silent(
    ID,
    { ...two, updates, steps: [made(0, { closure: true }), made(1, { closure: true })] },
    'the gradients of the step were not recorded tensor by tensor',
  );
});

describe('the optimiser holds the model', () => {
  const ID = 'update/optimiser-holds-the-model';
  const followed = (values: object) => [
    {
      what: 'followed',
      model: 0,
      values: { moved: 0, of: 4, gradients: 0, tensors: 4, rate: 1e-3, ...values },
    },
  ];
  const steps = [made(0, { copies: true })];

  test('tensors that the model left behind, copies that are not written back, tensors of no model', () => {
    expect(worst(ID, { rows, steps, events: followed({}) }).sentence).toContain(
      'none of them has a gradient',
    );
    expect(worst(ID, { rows, steps, events: followed({ gradients: 4 }) }).sentence).toContain(
      'not written back',
    );
    const strange = [{ what: 'strangers', names: ['head'], values: { count: 2 } }];
    expect(worst(ID, { ...one, events: strange }).sentence).toContain('no optimiser holds head');
  });

  test('a model that follows, one in half precision, and a last step are no fault', () => {
    holds(ID, { rows, steps, events: followed({ moved: 3 }) });
    silent(
      ID,
      { rows, steps, events: followed({ gradients: 4 }), models: [{ dtype: 'bfloat16' }] },
      'a small update may be lost in half precision',
    );
    silent(ID, { rows, steps }, 'it was not seen which tensors the step changes');
    const updates = [update([tensor('a')])];
    holds(ID, { ...one, updates, events: [{ what: 'strangers', values: { count: 2 } }] });
    silent(ID, one, 'it was not seen which tensors the step changes');
  });
});

test('every tensor moves, but for what rounding may hold', () => {
  const ID = 'update/every-tensor-moves';
  const beside = tensor('b');
  const still = (more: Partial<TensorUpdate>) => ({
    ...one,
    updates: [update([beside, tensor('a', { moved: false, ...more })])],
  });
  expect(worst(ID, still({})).sentence).toContain('left 1 tensor as it was');
  for (const more of [{ rate: 0 }, { norm: 0 }, { dtype: 'bfloat16' }, { peak: 1e-6 }, { held: 0 }])
    expect(judged(ID, still(more)).findings).toEqual([]);
  holds(ID, still({ moved: true }));
});

test('a tensor in two optimisers', () => {
  const ID = 'update/one-optimiser-a-tensor';
  const pair = [update([tensor('a')]), update([tensor('a')], { optimizer: 1 })];
  expect(worst(ID, { ...one, updates: pair }).sentence).toContain('updated twice');
  holds(ID, { ...one, updates: [update([tensor('a')]), update([tensor('b')], { optimizer: 1 })] });
  holds(ID, { ...two, updates: [update([tensor('a')]), update([tensor('a')], { optimizer: 1, step: 1 })] });
});

describe('gradients reach every layer', () => {
  const ID = 'update/gradients-reach-every-layer';
  const named = (without: readonly string[]) => ({
    ...one,
    updates: [
      update(
        ['layers.0.w', 'layers.1.w', 'layers.2.w', 'head.w'].map((name) =>
          without.includes(name) ? (({ norm: _, ...rest }) => rest)(tensor(name)) : tensor(name),
        ),
      ),
    ],
  });

  test('a model without numbered layers has no lowest one', () => {
    silent(
      ID,
      { ...one, updates: [update([tensor('embed.w'), tensor('head.w')])] },
      'the model has no numbered layers to train',
    );
  });

  test('cut between two layers, and above all of them', () => {
    expect(worst(ID, named(['layers.0.w', 'layers.1.w'])).sentence).toContain(
      'comes down to layers.2 and no further',
    );
    expect(worst(ID, named(['layers.0.w', 'layers.1.w', 'layers.2.w'])).sentence).toContain(
      'no layer of layers',
    );
  });

  test('a layer in the middle that was left out is a notice', () => {
    expect(judged(ID, named(['layers.1.w'])).findings).toEqual([]);
    expect(noticed(ID, named(['layers.1.w']))).toContain('1 of 4 tensors');
    holds(ID, named([]));
  });
});

test('what is frozen, and what adapters stand beside', () => {
  const ID = 'update/what-is-frozen-stays';
  const base = [tensor('up.base_layer.weight'), tensor('up.lora_A.weight')];
  expect(worst(ID, { ...one, updates: [update(base)] }).sentence).toContain('up.base_layer.weight');
  const [first = tensor('a'), second = tensor('b')] = base;
  const right = {
    ...one,
    updates: [update([{ ...first, moved: false, trainable: false, held: 0 }, second])],
  };
  holds(ID, right);
  const decayed = update([tensor('a', { trainable: false, norm: 0 })]);
  expect(worst(ID, { ...one, updates: [decayed] }).kind).toBe('frozen');
  silent(ID, { ...one, updates: [update([tensor('a')])] }, 'no tensor is frozen');
});

test('what was frozen and is trained in a later step is a notice, unless parts take turns', () => {
  const ID = 'update/what-is-frozen-stays';
  const cold = { trainable: false, moved: false };
  const steps = (...all: readonly (readonly [a: object, b: object])[]) => ({
    ...two,
    updates: all.map(([a, b], step) => update([tensor('a', a), tensor('b', b)], { step })),
  });
  const says = '1 tensor that was frozen until then requires a gradient and moves in step 1: a.';
  expect(noticed(ID, steps([cold, {}], [{}, {}]))).toContain(says);
  expect(noticed(ID, steps([cold, {}], [{}, {}], [{}, {}]))).toContain(says);
  expect(noticed(ID, steps([cold, {}], [{ moved: false, held: 0 }, {}]))).not.toContain('until then');
  expect(noticed(ID, steps([cold, {}], [{}, cold]))).not.toContain('until then');
  expect(noticed(ID, steps([cold, {}], [{}, {}], [cold, {}]))).not.toContain('until then');
  expect(noticed(ID, steps([cold, {}], [cold, {}]))).not.toContain('until then');
});

test('weight decay by what its groups declare', () => {
  const ID = 'update/decay-spares-what-is-free-of-it';
  const groups = (decays: Readonly<Record<string, number>>) => ({
    ...one,
    updates: [update(Object.entries(decays).map(([name, decay]) => tensor(name, { decay })))],
  });
  expect(worst(ID, groups({ 'q.weight': 0.1, 'q.bias': 0, 'ln_1.weight': 0.1 })).sentence).toContain(
    'ln_1.weight',
  );
  expect(worst(ID, groups({ 'q.weight': 0, 'q.bias': 0.1 })).kind).toBe('swapped');
  holds(ID, groups({ 'q.weight': 0.1, 'q.bias': 0, 'norm_2.weight': 0 }));
  // Groups of layers declare nothing about kinds.
  silent(
    ID,
    groups({ 'q.weight': 0.1, 'q.bias': 0.1, 'head.weight': 0, 'head.bias': 0 }),
    'what is free of weight decay is not biases and norms alone',
  );
  expect(noticed(ID, groups({ 'q.weight': 0.1, 'q.bias': 0.1 }))).toContain('is on all 2 tensors');
});

test('rates of 0 behind the first step', () => {
  const ID = 'update/learning-rate-is-not-zero';
  const at = (...rates: readonly number[]) => ({
    rows: rates.flatMap((_, step) => rows.map((row) => ({ ...row, step, forward: step }))),
    steps: rates.map((rate, index) => made(index, { learningRates: [rate], changed: rate > 0 })),
  });
  expect(worst(ID, at(0, 0)).kind).toBe('stays');
  expect(worst(ID, at(1e-3, 0)).kind).toBe('falls');
  holds(ID, at(0, 1e-4));
  silent(ID, at(1e-3));
  holds(ID, at(1e-3, 1e-4, 0));

  for (const rates of [
    [1e-3, 1e-4, 0, 0],
    [5e-5, 1e-6, 0, 0, 0],
    [1, 0.01, 0, 0],
  ]) {
    const { sentence, note } = worst(ID, at(...rates));
    expect(sentence).toContain(`after ${show(rates[0])} in an earlier step: the schedule is over`);
    expect(`${sentence} ${note}`).not.toMatch(/warm-up|by epochs/);
  }
  expect(worst(ID, at(0, 0)).sentence).toContain('a warm-up that begins at 0 leaves it after one step');
});

test('schedulers by their calls', () => {
  const ID = 'update/schedule-goes-by-steps';
  const calls = (step: number, scheduler: string, values: object, names = ['train.py:7']) => [
    {
      what: 'schedule',
      step,
      names,
      place: 'train.py:7',
      values: { scheduler, optimizer: 0, passes: 1, ...values },
    },
  ];
  expect(worst(ID, { ...two, events: calls(1, 'LambdaLR', { calls: 2 }) }).kind).toBe('twice');
  expect(worst(ID, { ...two, events: calls(0, 'LambdaLR', { calls: 1, behind_backward: 1 }) }).kind).toBe(
    'before',
  );
  expect(worst(ID, { ...two, events: calls(1, 'OneCycleLR', { calls: 0 }, []) }).kind).toBe('never');
  holds(ID, { ...two, events: calls(1, 'LambdaLR', { calls: 1 }) });
  holds(ID, { ...two, events: calls(1, 'LambdaLR', { calls: 2, by_processes: true }) });
  expect(noticed(ID, { ...two, events: calls(1, 'LambdaLR', { calls: 0 }, []) })).toContain(
    'Right where it goes by epochs',
  );
  const fast = calls(1, 'LambdaLR', { calls: 4, passes: 4 });
  expect(noticed(ID, { ...two, events: fast })).toContain('once after each micro-batch');
});

test('tensors that change between two steps are noticed, and their step named', () => {
  const ID = 'update/every-tensor-moves';
  const anew = { what: 'made-anew', step: 1, names: ['a'], values: { tensors: 3 } };
  const moved = update([tensor('a')]);
  expect(noticed(ID, { ...two, updates: [moved], events: [anew] })).toContain(
    'Before step 1, 3 tensors changed while no optimiser was at work: a and 2 more.',
  );
  expect(noticed(ID, { ...two, updates: [moved] })).toBe('');
});

describe('micro-batches of one step', () => {
  const ID = 'update/micro-batches-share-a-step';
  const behind = { backwards: 2, backwardPlaces: ['train.py:7'] };
  const means = (
    lengths: readonly number[],
    more: (forward: number) => object = () => ({}),
  ): LedgerSketch => ({
    rows: lengths.flatMap((length, forward) =>
      (supervised({ lengths: [[[length]]] }).rows ?? []).map((row) => ({
        ...row,
        forward,
        ...more(forward),
      })),
    ),
    steps: [made(0, behind)],
  });
  const taken = (pass: number, number: number) => ({
    batch: { pass, number, workers: 0, size: 1, of: 8 },
  });

  test('a mean each that nobody divides', () => {
    expect(worst(ID, means([5, 3])).kind).toBe('undivided');
    expect(
      worst(
        ID,
        means([5, 3], (forward) => taken(0, forward)),
      ).kind,
    ).toBe('undivided');
    holds(ID, { ...supervised({ lengths: [[[5], [3]]] }), steps: [made(0, behind)] });
  });

  const windows = (...counts: readonly number[]): LedgerSketch => {
    const most = Math.max(...counts);
    const earlier = (step: number): number => counts.slice(0, step).reduce((sum, count) => sum + count, 0);
    return {
      rows: counts.flatMap((count, step) =>
        Array.from({ length: count }, (_, micro) => ({
          ...(supervised({ lengths: [[[4 + micro]]] }).rows ?? [])[0],
          ids: idsOf(earlier(step) + micro, 4 + micro),
          weight: 1 / (most * (4 + micro)),
          step,
          forward: earlier(step) + micro,
        })),
      ),
      steps: counts.map((count, index) => made(index, { backwards: count, backwardPlaces: ['train.py:77'] })),
    };
  };

  test.each([[[1, 2, 2]], [[1, 4, 4]], [[2, 3]]])(
    'a first step of fewer micro-batches ends no epoch: %o',
    (counts) => {
      const { kind, note = '' } = worst(ID, windows(...counts));
      expect(kind).toBe('short');
      expect(note).toContain('The first traced step');
      expect(note).not.toContain('epoch');
    },
  );

  test.each([[[2, 2, 1]], [[4, 4, 3]], [[3, 1, 3]]])(
    'a later step of fewer micro-batches may end one: %o',
    (counts) => {
      const { note = '' } = worst(ID, windows(...counts));
      expect(note).toContain('as at the end of an epoch');
      expect(note).toContain(`is divided by ${Math.max(...counts)}`);
    },
  );

  test('losses of several tasks are added up as is meant: of several loaders, or of the same rows', () => {
    silent(
      ID,
      means([5, 3], (forward) => taken(forward, 0)),
    );
    silent(ID, means([5, 5]), 'the losses of the step are those of several tasks');
  });
});

test('where all rows are one row, the gradient of all micro-batches looks like that of the last', () => {
  const ID = 'update/every-micro-batch-reaches-the-step';
  const cut = (lengths: readonly number[]): LedgerSketch => ({
    rows: lengths.map((length, step) => ({
      ...(supervised({ lengths: [[[length]]] }).rows ?? [])[0],
      ids: idsOf(length, length),
      step,
      forward: 2 * step + 1,
    })),
    steps: lengths.map((_, step) => made(step, { dropped: [2 * step], backwards: 2 })),
  });
  expect(worst(ID, cut([5, 3])).kind).toBe('dropped');
  silent(ID, cut([5, 5]), 'all rows are the same');
});

describe('what each backward pass delivered is in the gradient once', () => {
  const ID = 'update/every-micro-batch-reaches-the-step';
  /** Two steps of as many micro-batches as there are factors. */
  const delivered = (factors: readonly number[], rest = 1e-7): LedgerSketch => ({
    rows: [0, 1].flatMap((step) =>
      factors.map((_, forward) => ({
        ...(supervised({ lengths: [[[5 + forward]]] }).rows ?? [])[0],
        ids: idsOf(5 + forward, 5 + forward),
        step,
        forward: step * factors.length + forward,
      })),
    ),
    steps: [made(0, { backwards: factors.length }), made(1, { backwards: factors.length })],
    events: [0, 1].map((step) => ({
      rank: 0,
      step,
      what: 'delivered',
      names: [],
      values: { factors, rest },
    })),
  });

  test.each([
    [[1, 0, 0, 1], 'lost', 'without micro-batch 1, 2'],
    [[0, 0.5], 'lost', 'without micro-batch 0'],
    [[0.2, 0.4, 0.2], 'repeated', 'with micro-batch 1 more than once'],
    [[0, 0.1, 0.3], 'lost', 'without micro-batch 0 and with micro-batch 2 more than once'],
  ])('%o', (factors, kind, told) => {
    const found = worst(ID, delivered(factors));
    expect(found.kind).toBe(kind);
    expect(found.sentence).toContain(told);
  });

  test.each([
    ['all, clipped as one', [0.3, 0.3, 0.3], 1e-7],
    ['weights that may be meant', [1, 0.7, 1], 1e-7],
    ['a gradient that is no sum of them: other processes, clipping by tensor', [1, 0, 1], 0.4],
  ])('%s', (_, factors, rest) => {
    holds(ID, delivered(factors, rest));
  });

  test('once is no rule of the script', () => {
    const { events = [], ...sketch } = delivered([1, 0, 1]);
    holds(ID, { ...sketch, events: events.slice(0, 1) });
  });
});
