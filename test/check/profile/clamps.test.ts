// A trainer that is asked for several estimators of the KL, each bounded in a way of its own: measured, declared, judged.
import { expect, test } from 'vitest';
import { properties } from '../../../properties/index.ts';
import { NOT_MEASURED } from '../../../src/check/profile/measured.ts';
import { profileTrainer } from '../../../src/check/profile/profile.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import { type KlEstimator, objectTrainer, run, type Semantics, type Trainer } from '../../../src/index.ts';
import { profileLines } from '../../../src/report/profile.ts';
import { clamped, k1, k2, k3, madeSpec } from './profiled.ts';

type Estimate = typeof k3;
type Estimates = Partial<Readonly<Record<KlEstimator, Estimate>>>;

/** Its loss has a term of `own`, which is also what op kl answers where no estimator is named. */
function several(of: Estimates, own: KlEstimator, semantics: Semantics = {}): Trainer {
  const { hello, ops } = madeSpec({ kl: of[own] ?? k3 });
  return objectTrainer({
    hello: {
      ...hello,
      ops: { ...hello.ops, kl: { kl_estimator: Object.keys(of) as KlEstimator[] } },
      semantics,
    },
    ops: {
      ...ops,
      kl: ({ logprobs, ref_logprobs, kl_estimator = own }) => ({
        kl: logprobs.map((row, b) =>
          row.map(
            (value, t) => of[kl_estimator as KlEstimator]?.(value, ref_logprobs[b]?.[t] ?? 0) ?? Number.NaN,
          ),
        ),
      }),
    },
  });
}

const VERL: Estimates = { k1, k2, k3: clamped(k3, 10) };
const profiled = async (trainer: Trainer) => {
  const profile = await profileTrainer({ trainer, tokenizer: undefined });
  return { profile, row: profile.items.find(({ item }) => item === 'kl_clamp') };
};

test.each<[string, Estimates, Semantics['kl_clamp']]>([
  ['k3 alone', VERL, { k3: 10 }],
  ['all alike', { k1: clamped(k1, 10), k2: clamped(k2, 10), k3: clamped(k3, 10) }, 10],
  ['none', { k1, k2, k3 }, null],
  ['each another', { k1: clamped(k1, 5), k2, k3: clamped(k3, 20) }, { k1: 5, k3: 20 }],
  ['one side of k2', { k1, k2: (p, q) => k2(0, Math.min(q - p, 10)), k3 }, { k2: [null, 10] }],
])('the clamps of several estimators are measured: %s', async (_, of, clamp) => {
  for (const own of ['k1', 'k3'] as const) {
    const trainer = several(of, own);
    const { profile, row } = await profiled(trainer);
    expect(profile.measured).toMatchObject({ kl_estimator: own });
    expect(profile.measured.kl_clamp).toEqual(clamp);
    expect(row?.verdict).toBe('undeclared');
    const lines = profileLines(trainer.hello, profile, { width: 200 }).join('\n');
    expect(lines).toContain(`"kl_clamp": ${JSON.stringify(clamp)}`);
  }
});

test('the clamp of one estimator that cannot be told is said of none by its name', async () => {
  const { profile } = await profiled(several({ k1: (p, q) => 2 * k1(p, q), k3: clamped(k3, 10) }, 'k3'));
  expect(profile.measured.kl_clamp).toBe(10);
});

test.each<[Semantics['kl_clamp'], string]>([
  [{ k3: 10 }, 'agrees'],
  [{ k1: null, k3: 10 }, 'agrees'],
  [10, 'agrees'],
  [{ k1: 10, k3: 10 }, 'differs'],
  [{ k2: 20, k3: 10 }, 'differs'],
  [{}, 'differs'],
  [null, 'differs'],
])('a declaration of %j for k3 alone %s', async (kl_clamp, verdict) => {
  const { row } = await profiled(several(VERL, 'k3', kl_clamp === undefined ? {} : { kl_clamp }));
  expect(row?.verdict).toBe(verdict);
});

test('a measured bound of one estimator within the range in which it acts is asked about', async () => {
  const { doubts } = await measureUndeclared({
    trainer: several({ k1: clamped(k1, 1), k3 }, 'k3'),
    tokenizer: undefined,
  });
  expect(doubts.find(({ item }) => item === 'kl_clamp')).toMatchObject({
    weight: 'ask',
    sentence: expect.stringContaining('kl_clamp is {"k1":1}.'),
    answers: [expect.stringContaining('"kl_clamp": {"k1":1}'), expect.stringContaining('"kl_clamp": null')],
  });
});

const verdictOf = async (of: Estimates, kl_clamp: Semantics['kl_clamp']) => {
  const trainer = several(of, 'k3', {
    kl_estimator: 'k3',
    kl_ratio_correction: false,
    ...(kl_clamp === undefined ? {} : { kl_clamp }),
  });
  const [result] = await run(
    {
      trainer,
      tokenizer: undefined,
      properties: properties.filter(({ id }) => id === 'kl/equals-the-estimator'),
      seed: 1,
      cases: 50,
      command: 'test',
      measured: NOT_MEASURED,
    },
    () => {},
  );
  return { verdict: result?.verdict, sentence: result?.failure?.finding?.sentence };
};

test('a check holds each estimator to its own clamp', async () => {
  expect(await verdictOf(VERL, { k3: 10 })).toEqual({ verdict: 'pass', sentence: undefined });
  const allBounded = { k1: clamped(k1, 10), k2: clamped(k2, 10), k3: clamped(k3, 10) };
  expect(await verdictOf(allBounded, { k1: 10, k2: 10, k3: 10 })).toMatchObject({ verdict: 'pass' });
  // One value is said of k3: what becomes of k1 is anybody's business.
  expect(await verdictOf(VERL, 10)).toMatchObject({ verdict: 'pass' });
  expect(await verdictOf(allBounded, 10)).toMatchObject({ verdict: 'pass' });
});

test.each<[string, Estimates, Semantics['kl_clamp'], string]>([
  ['k1 is bounded too', { ...VERL, k1: clamped(k1, 10) }, { k3: 10 }, 'k1 gives'],
  ['k2 is bounded too', { ...VERL, k2: clamped(k2, 10) }, { k3: 10 }, 'k2 gives'],
  ['k1 is not bounded', VERL, { k1: 10, k3: 10 }, 'k1, log-ratio clamped to ±10 gives'],
  ['k3 is bounded by another number', { ...VERL, k3: clamped(k3, 20) }, { k3: 10 }, 'clamped to ±10 gives'],
])(
  'a check finds the clamp of one estimator that is not the declared one: %s',
  async (_, of, clamp, words) => {
    const { verdict, sentence } = await verdictOf(of, clamp);
    expect(verdict).toBe('fail');
    expect(sentence).toContain(words);
  },
);
