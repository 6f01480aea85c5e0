// Tiny models of several kinds under the tracer's hooks: targets exactly, weights as autograd has them.
import { beforeAll, describe, expect, test } from 'vitest';
import { type Answered, casesOf } from './cases.ts';

interface Compared {
  readonly position: number;
  readonly target: number;
  readonly weight: number;
  readonly residual: number;
  readonly n: number;
  readonly route: string;
  readonly dtype: string;
  readonly temperatures: readonly number[];
}

const FLOAT32 = 1e-5;
const BFLOAT16 = 5e-2;

let cases: ReadonlyMap<string, Answered>;
beforeAll(async () => {
  cases = await casesOf('forward_cases.py', 'hand_cases.py', 'found_cases.py', 'ranks_cases.py');
}, 600_000);

const out = <T>(name: string): T => cases.get(name)?.out as T;

function right(compared: Compared, weight = FLOAT32): void {
  expect(compared, JSON.stringify(compared)).toMatchObject({ position: 0, target: 0 });
  expect(compared.n).toBeGreaterThan(0);
  expect(compared.weight).toBeLessThan(weight);
  expect(compared.residual).toBeLessThan(weight === FLOAT32 ? 1e-4 : BFLOAT16);
}

test('no case gave the tracer trouble, and none ended in an exception', () => {
  expect(cases.size).toBeGreaterThan(40);
  for (const [name, { troubles, out }] of cases) {
    expect(troubles, name).toEqual([]);
    expect(out, name).not.toHaveProperty('error');
  }
});

test('a head that is called again: further tokens are left out, the same hidden states count twice', () => {
  const all =
    out<Record<string, Compared & { listed?: number; wanted?: number; sum?: number }>>(
      'a head for further tokens',
    );
  expect(Object.keys(all)).toHaveLength(8);
  for (const one of Object.values(all)) {
    if (one.sum === undefined) right(one);
    else {
      expect(one.listed).toBe(one.wanted);
      expect(one.sum).toBeCloseTo(1.3, 4);
    }
  }
});

test.each([
  ['llama untied', 'logits'],
  ['llama tied', 'logits'],
  ['qwen2 by name', 'logits'],
  ['gpt2 by place', 'logits'],
  ['gemma2 with softcap', 'logits'],
  ['gemma2 hidden with softcap', 'hidden'],
  ['logits to keep', 'logits'],
  ['labels in the model', 'logits'],
  ['chunked loss of trl', 'hidden'],
  ['body called by itself', 'hidden'],
  ['value head beside', 'logits'],
  ['the script fails', 'logits'],
  ['adversarial deepcopy and save', 'logits'],
  ['hand written around', 'logits'],
  ['a gradient scaler', 'logits'],
  ['data parallel', 'logits'],
  ['adapters', 'logits'],
  ['adapters on the head', 'logits'],
  ['hidden states in the cheap mode', 'hidden'],
])('%s', (name, route) => {
  right(out(name));
  expect(out<Compared>(name).route).toBe(route);
});

test.each(['temperature', 'temperature in place', 'temperature in place on a view'])('%s', (name) => {
  right(out(name));
  expect(out<Compared>(name).temperatures).toEqual([0.7]);
});

test('hidden temperature, one after the other', () => {
  for (const one of Object.values(out<Record<string, Compared & { wanted: number }>>('hidden temperature'))) {
    right(one);
    expect(one.temperatures).toEqual([one.wanted]);
  }
});

test.each(['checkpointing reentrant', 'checkpointing not reentrant'])(
  '%s makes one forward record',
  (name) => {
    right(out(name));
    expect(out(name)).toMatchObject({ forwards: 1 });
  },
);

test.each(['half precision', 'hidden states in other dtypes'])('%s', (name) => {
  const all = out<Record<string, Compared>>(name);
  expect(Object.values(all).map(({ dtype }) => dtype)).toEqual(['float64', 'float16', 'bfloat16']);
  for (const compared of Object.values(all))
    right(compared, compared.dtype === 'float64' ? FLOAT32 : BFLOAT16);
});

test.each(['autocast bfloat16', 'model in bfloat16'])('%s', (name) => {
  right(out(name), BFLOAT16);
  expect(out(name)).toMatchObject({ dtype: 'bfloat16' });
});

describe('several at once', () => {
  test.each([
    'same token and next but one',
    'hand written',
    'hand written loss',
    'two backward passes',
    'a graph that is walked twice',
    'watched',
    'methods that are called directly',
    'sizes that mislead',
    'losses of models with sizes that mislead',
    'rank 0 of two',
    'rank 1 of two',
  ])('%s', (name) => {
    for (const compared of Object.values(out<Record<string, Compared>>(name))) right(compared);
  });

  test.each([
    ['called twice before the backward pass', 2],
    ['the whole model in a checkpoint', 2],
    ['the whole model in a reentrant checkpoint', 1],
  ])('%s: each call is one', (name, calls) => {
    const { forwards, first, second } = out<{ forwards: number; first: Compared; second: Compared }>(name);
    expect(forwards).toBe(calls);
    right(first);
    right(second);
  });
});

test('a model of several processes says over how many its gradients are averaged, one of its own over none', () => {
  for (const rank of ['rank 0 of two', 'rank 1 of two'])
    expect(out(rank)).toMatchObject({ averaged: { over: 2 }, alone: { over: 1 } });
});

test('adapters that are off are told, and what carries them is no model of its own', () => {
  for (const name of ['adapters', 'adapters on the head'])
    expect(out(name), name).toMatchObject({ off: [true, false], models: ['LlamaForCausalLM'], same: true });
});

test('a head with adapters of its own is not taken for its weight alone', () => {
  expect(out('adapters on the head that is not called')).not.toHaveProperty('weight');
});

test('watch() hands its model back, with a trace and without', () => {
  for (const one of Object.values(out<Record<string, { same?: boolean }>>('watched')))
    expect(one.same).not.toBe(false);
  expect(out('watch without a trace')).toEqual({ same: true });
});

test('a backward pass of zeros is a record of no positions', () => {
  expect(out('all labels ignored')).toMatchObject({ n: 0 });
  expect(out('nothing but zeros')).toEqual({ n: 0, not_finite: 0 });
});

test('without gradients, the log-probabilities of the inputs are there', () => {
  const { grad, off, first } = out<{ grad: boolean; off: number; first: boolean }>('no gradients');
  expect([grad, first]).toEqual([false, true]);
  expect(off).toBeLessThan(1e-5);
});

test('an entropy bonus is told, and leaves nothing', () => {
  const { residual, terms } = out<{ residual: number; terms: readonly { kind: string; sum: number }[] }>(
    'entropy bonus',
  );
  expect(residual).toBeLessThan(1e-4);
  expect(terms.map(({ kind }) => kind)).toEqual(['entropy']);
  expect(terms[0]?.sum).toBeCloseTo(0.5, 4);
});

test('what a wrapper carries is the model, and the wrapper none', () => {
  expect(out('hand written around')).toMatchObject({ models: ['Hand'] });
});

test('what cannot be seen is said', () => {
  expect(out('hand written loss without a head')).toEqual({ blind: ['no-head'], trained: 0 });
  expect(out('embeddings given')).toEqual({ blind: ['embeds'], forwards: 0 });
  // A classifier: its rows, and the gradient of its scores.
  expect(out('no language model')).toEqual({ kinds: ['forward', 'model', 'trained'] });
  expect(out('data parallel')).toMatchObject({ blind: ['data-parallel'], forwards: 1 });
});

test('the random numbers are those of the script', () => {
  expect(out('random numbers are the scripts')).toEqual({ same: true });
});

test('of a compiled model the training is read, or it is said to be blind', () => {
  type Compiled = Record<string, Compared & { blind: string[] }>;
  const all = { ...out<Compiled>('compiled models'), ...out<Compiled>('compiled') };
  expect(Object.keys(all)).toHaveLength(8);
  for (const [name, one] of Object.entries(all)) {
    if (one.blind.length > 0) expect(one, name).toMatchObject({ blind: ['compiled'] });
    else right(one);
  }
});
