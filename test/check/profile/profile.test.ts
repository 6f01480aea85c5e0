import { expect, test } from 'vitest';
import { NOT_MEASURED } from '../../../src/check/profile/measured.ts';
import { profileTrainer } from '../../../src/check/profile/profile.ts';
import { measureUndeclared } from '../../../src/check/profile/undeclared.ts';
import { objectTrainer, type Semantics, type Trainer } from '../../../src/index.ts';
import { clamped, k1, k2, k3, type Made, made, madeSpec, ofClamped, timesRatio } from './profiled.ts';

const profileOf = (trainer: Trainer) => profileTrainer({ trainer, tokenizer: undefined });
const rowOf = async (trainer: Trainer, item: keyof Semantics) =>
  (await profileOf(trainer)).items.find((row) => row.item === item);

const VARIANTS: readonly (readonly [string, Made, Semantics])[] = [
  [
    'the plain GRPO trainer',
    {},
    { kl_estimator: 'k3', kl_clamp: null, kl_ratio_correction: false, kl_coef: 0.04 },
  ],
  ['k1', { kl: k1 }, { kl_estimator: 'k1', kl_clamp: null, kl_ratio_correction: false, kl_coef: 0.04 }],
  ['k2 times ratio', { kl: timesRatio(k2) }, { kl_estimator: 'k2', kl_ratio_correction: true }],
  [
    'k3 times ratio',
    { kl: timesRatio(k3) },
    { kl_estimator: 'k3', kl_ratio_correction: true, kl_placement: 'loss' },
  ],
  ['k3 of a log-ratio within 20', { kl: ofClamped(k3, 20) }, { kl_estimator: 'k3', kl_clamp: 20 }],
  ['k3 of a log-ratio within 10', { kl: ofClamped(k3, 10) }, { kl_estimator: 'k3', kl_clamp: 10 }],
  ...([k1, k2, k3] as const).flatMap((kl): [string, Made, Semantics][] => [
    [
      `${kl.name} of a log-ratio of at most 10`,
      { kl: (p, q) => kl(0, Math.min(q - p, 10)) },
      { kl_estimator: kl.name as 'k1', kl_clamp: [null, 10] },
    ],
    [
      `${kl.name} of a log-ratio of at least -20`,
      { kl: (p, q) => kl(0, Math.max(q - p, -20)) },
      { kl_estimator: kl.name as 'k1', kl_clamp: [-20, null] },
    ],
  ]),
  ['k3 of at most 10', { kl: (p, q) => Math.min(k3(p, q), 10) }, { kl_estimator: 'k3', kl_clamp: 10 }],
  ['k3 within 10', { kl: clamped(k3, 10) }, { kl_estimator: 'k3', kl_clamp: 10 }],
  ['k2 within 20', { kl: clamped(k2, 20) }, { kl_estimator: 'k2', kl_clamp: 20 }],
  ['a coefficient of its own', { beta: 0.0375 }, { kl_coef: 0.0375 }],
  ['a small coefficient', { beta: 1e-6 }, { kl_coef: 1e-6, kl_estimator: 'k3' }],
  ['no KL in the loss', { beta: 0 }, { kl_coef: 0, kl_estimator: 'k3' }],
  ['scaling by the batch', { scaling: 'batch', ddof: 0 }, { advantage_scaling: 'batch', advantage_ddof: 0 }],
  ['no scaling', { scaling: 'none' }, { advantage_scaling: 'none' }],
  [
    'a mean of row means',
    { factor: (row, _, rows) => 1 / row / rows },
    { loss_aggregation: 'seq-mean-token-mean' },
  ],
  ['a mean of row sums', { factor: (_, __, rows) => 1 / rows }, { loss_aggregation: 'seq-mean-token-sum' }],
  ['a constant', { factor: () => 1 / 1536 }, { loss_aggregation: 'token-sum-norm', loss_norm: 1536 }],
  ['a large constant', { factor: () => 1 / 3e6 }, { loss_aggregation: 'token-sum-norm', loss_norm: 3e6 }],
  ['denominators of micro-batches', { local: true }, { loss_normalization: 'local' }],
  ['denominators of the batch', {}, { loss_normalization: 'global', loss_aggregation: 'token-mean' }],
  ['clip-higher', { clip: [0.2, 0.28] }, { clip_low: 0.2, clip_high: 0.28 }],
  ['a clip of its own', { clip: [0.15, 0.37] }, { clip_low: 0.15, clip_high: 0.37 }],
  ['a tiny clip', { clip: [3e-4, 4e-4] }, { clip_low: 3e-4, clip_high: 4e-4 }],
  ['a dual clip', { dual: 3 }, { dual_clip: 3, clip_low: 0.2, clip_high: 0.2 }],
  ['a dual clip of its own', { dual: 2.5 }, { dual_clip: 2.5 }],
  ['no dual clip', {}, { dual_clip: null, ratio_level: 'token', policy_objective: 'clip' }],
  ['a ratio a sequence', { sequenceRatio: true }, { ratio_level: 'sequence', clip_low: 0.2 }],
  [
    'the mean of the batch',
    { baseline: (_, all) => all.reduce((sum, value) => sum + value, 0) / all.length, scaling: 'batch' },
    { advantage_baseline: 'batch-mean', advantage_scaling: 'batch', advantage_ddof: 1 },
  ],
  [
    'no baseline',
    { baseline: () => 0, scaling: 'none' },
    { advantage_baseline: 'none', advantage_scaling: 'none' },
  ],
  [
    'an epsilon of its own',
    { divisor: (deviation) => deviation + 0.0375 },
    { advantage_epsilon: 0.0375, advantage_epsilon_placement: 'std' },
  ],
  [
    'an epsilon of its own under the root',
    { divisor: (deviation) => Math.sqrt(deviation ** 2 + 2e-6) },
    { advantage_epsilon: 2e-6, advantage_epsilon_placement: 'variance' },
  ],
  ['no clip', { clip: [Infinity, Infinity] }, { clip_low: Infinity, clip_high: Infinity }],
];

test.each(VARIANTS)('%s is measured', async (_, how, expected) => {
  const { measured } = await profileOf(made(how));
  expect(measured).toMatchObject(expected);
});

test.each(VARIANTS)(
  '%s is measured by the quick profile of a check, or left open',
  async (_, how, expected) => {
    const { semantics: measured } = await measureUndeclared({ trainer: made(how), tokenizer: undefined });
    for (const [item, value] of Object.entries(measured)) {
      if (item in expected) expect([item, value]).toEqual([item, expected[item as keyof Semantics]]);
    }
    expect(Object.keys(measured).length).toBeGreaterThan(5);
  },
);

test.each([0, 1e-9, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3])(
  'epsilon %d is told from the others in float32 too',
  async (epsilon) => {
    for (const ddof of [0, 1] as const) {
      const float32 = { round: Math.fround, dtype: 'float32', ddof } as const;
      const { measured } = await profileOf(made({ ...float32, divisor: (deviation) => deviation + epsilon }));
      expect(measured).toMatchObject({ advantage_epsilon: epsilon, advantage_ddof: ddof });
    }
  },
);

/** Eleven bits, and nothing below 2^-24. */
function half(value: number): number {
  const unit = Math.max(2 ** -24, 2 ** (Math.floor(Math.log2(Math.abs(value))) - 10));
  return value === 0 || !Number.isFinite(value) ? value : Math.round(value / unit) * unit;
}

test('epsilons below what the number format holds cannot be told apart', async () => {
  const row = await rowOf(made({ round: half, dtype: 'float16' }), 'advantage_epsilon');
  expect(row?.verdict).toBe('untold');
  expect(row?.fits).toEqual(expect.arrayContaining([0, 1e-8, 1e-4]));
});

test('a spread that the trainer takes for none shows no epsilon', async () => {
  const divisor = (deviation: number): number => (deviation < 1e-4 ? Infinity : deviation + 1e-9);
  const row = await rowOf(made({ round: Math.fround, dtype: 'float32', divisor }), 'advantage_epsilon');
  expect(row?.verdict).toBe('untold');
  expect(row?.fits).toEqual(expect.arrayContaining([0, 1e-9, 1e-8]));
  expect(row?.fits).not.toContain(1e-5);
});

test.each([1e-8, 1e-6, 1e-5, 1e-4])(
  'an epsilon of %d under the root is told from one beside it',
  async (epsilon) => {
    const rooted = made({ divisor: (deviation) => Math.sqrt(deviation ** 2 + epsilon) });
    const { measured } = await profileOf(rooted);
    expect(measured).toMatchObject({
      advantage_scaling: 'group',
      advantage_ddof: 1,
      advantage_epsilon: epsilon,
      advantage_epsilon_placement: 'variance',
    });
  },
);

test('a floor under the deviation is none of the known epsilons, and the spread is measured all the same', async () => {
  const floored = made({ divisor: (deviation) => Math.max(deviation, 1e-4) });
  const { measured, items } = await profileOf(floored);
  expect(measured).toMatchObject({ advantage_scaling: 'group', advantage_ddof: 1 });
  expect(measured.advantage_epsilon).toBeUndefined();
  const row = items.find(({ item }) => item === 'advantage_epsilon');
  expect(row?.verdict).toBe('unknown');
  expect(row?.closest?.name).toContain('(reward - group mean) / (group standard deviation');
  expect(row?.closest?.misfit.where).toContain('the advantage of reward');
});

test('a clip that gives way is none of the known ones, with the closest and how far off it is', async () => {
  // Beyond the edge the objective goes on at a tenth of the slope.
  const spec = madeSpec({});
  const soft = objectTrainer({
    hello: spec.hello,
    ops: {
      ...spec.ops,
      loss: (args) => {
        const [mask, ratio, advantage] = [args.completion_mask.flat(), args.logprobs.flat(), args.advantages];
        const old = args.old_logprobs.flat();
        const width = args.completion_mask[0]?.length ?? 1;
        const terms = mask.flatMap((on, at) => {
          if (on !== 1) return [];
          const r = Math.exp((ratio[at] ?? 0) - (old[at] ?? 0));
          const held = r > 1.2 ? 1.2 + (r - 1.2) / 10 : Math.max(r, 0.8);
          const a = advantage[Math.floor(at / width)] ?? 0;
          return [-Math.min(r * a, held * a)];
        });
        return { loss: terms.reduce((sum, term) => sum + term, 0) / terms.length };
      },
    },
  });
  const row = await rowOf(soft, 'clip_high');
  expect(row?.verdict).toBe('unknown');
  expect(row?.closest?.name).toMatch(/ratio clipped at|no clip high/);
  expect((await rowOf(soft, 'clip_low'))?.fits).toEqual([0.2]);
});

test('an unknown KL is none of the known ones, with the closest and how far off it is', async () => {
  const row = await rowOf(made({ kl: (logprob, ref) => -Math.abs(ref - logprob) }), 'kl_estimator');
  expect(row?.verdict).toBe('unknown');
  expect(row?.fits).toEqual([]);
  expect(row?.closest?.name).toBe('k1');
  const { expected = 0, observed = 0 } = row?.closest?.misfit ?? {};
  expect(Math.abs(observed)).toBe(Math.abs(expected));
  expect(observed).toBe(-expected);
});

test.each([
  [{ kl_estimator: 'k2' }, 'kl_estimator'],
  [{ kl_clamp: 10 }, 'kl_clamp'],
  [{ advantage_ddof: 0 }, 'advantage_ddof'],
  [{ advantage_epsilon: 2e-6 }, 'advantage_epsilon'],
  [{ clip_high: 0.25 }, 'clip_high'],
  [{ kl_coef: 0.05 }, 'kl_coef'],
  [{ loss_aggregation: 'seq-mean-token-mean' }, 'loss_aggregation'],
  [{ loss_normalization: 'local' }, 'loss_normalization'],
] as const)('a wrong declaration %j differs', async (semantics, item) => {
  const { items } = await profileOf(made({ semantics }));
  expect(items.filter(({ verdict }) => verdict === 'differs').map((row) => row.item)).toEqual([item]);
});

test('a right declaration of uncommon values agrees', async () => {
  const semantics: Semantics = { kl_coef: 0.0123456, clip_high: 0.333, advantage_epsilon: 2e-6 };
  const trainer = made({ beta: 0.0123456, clip: [0.2, 0.333], divisor: (d) => d + 2e-6, semantics });
  const { items } = await profileOf(trainer);
  const verdicts = items.filter(({ declared }) => declared !== undefined).map(({ verdict }) => verdict);
  expect(verdicts).toEqual(['agrees', 'agrees', 'agrees']);
});

test('a loss whose KL is another than that of op kl is no measure of the estimator', async () => {
  const [one, other] = [madeSpec({ kl: k3 }), madeSpec({ kl: k2 })];
  const both = objectTrainer({
    hello: one.hello,
    ops: { ...one.ops, ...(other.ops.loss ? { loss: other.ops.loss } : {}) },
  });
  expect((await rowOf(both, 'kl_estimator'))?.verdict).toBe('conflict');
  const { semantics: measured } = await measureUndeclared({ trainer: both, tokenizer: undefined });
  expect(measured.kl_estimator).toBeUndefined();
});

test('a loss with more in it than its pieces is held to none of them', async () => {
  const entropy = made({ extra: (logprob) => 0.1 * logprob * Math.exp(logprob) });
  const { semantics: measured } = await measureUndeclared({ trainer: entropy, tokenizer: undefined });
  for (const item of [
    'loss_aggregation',
    'clip_low',
    'clip_high',
    'kl_coef',
    'ratio_level',
    'dual_clip',
  ] as const)
    expect(measured[item]).toBeUndefined();
  expect(measured).toMatchObject({ advantage_ddof: 1, kl_estimator: 'k3' });
});

test('a KL whose slope a finite difference cannot follow is held to its formula by the loss itself', async () => {
  const clamps = made({ kl: clamped(k3, 10) });
  const measured = await measureUndeclared({ trainer: clamps, tokenizer: undefined });
  expect(measured.semantics).toMatchObject({ kl_estimator: 'k3', kl_clamp: 10, kl_coef: 0.04 });
  expect(measured.doubts.filter(({ weight }) => weight === 'ask')).toEqual([]);
  const bends = await measureUndeclared({ trainer: made({ kl: timesRatio(k2) }), tokenizer: undefined });
  expect(bends.semantics).toMatchObject({ kl_estimator: 'k2', kl_ratio_correction: true });
});

test('a check measures only what is not declared, and asks nothing where all is', async () => {
  const full: Semantics = {
    kl_estimator: 'k3',
    kl_clamp: null,
    kl_ratio_correction: false,
    kl_coef: 0.04,
    advantage_scaling: 'group',
    advantage_ddof: 1,
    advantage_epsilon: 1e-4,
    advantage_epsilon_placement: 'std',
    loss_aggregation: 'token-mean',
    loss_normalization: 'global',
    ratio_level: 'token',
    clip_low: 0.2,
    clip_high: 0.2,
    dual_clip: null,
    log_ratio_clamp: null,
  };
  const { advantage_ddof: _, ...most } = full;
  let asked: string[] = [];
  const listened = (semantics: Semantics): Trainer => {
    const trainer = made({ semantics });
    return {
      ...trainer,
      ask: (op, args) => {
        asked.push(op);
        return trainer.ask(op, args);
      },
    };
  };
  expect(await measureUndeclared({ trainer: listened(full), tokenizer: undefined })).toEqual(NOT_MEASURED);
  expect(asked).toEqual([]);
  asked = [];
  expect(await measureUndeclared({ trainer: listened(most), tokenizer: undefined })).toMatchObject({
    semantics: { advantage_ddof: 1 },
  });
  expect(new Set(asked)).toEqual(new Set(['advantages']));
});

test('an op that raises, refuses or answers nonsense measures nothing and ends nothing', async () => {
  const spec = madeSpec({});
  const broken = objectTrainer({
    hello: spec.hello,
    ops: {
      ...spec.ops,
      kl: () => {
        throw new Error('no reference model');
      },
      loss: () => ({ loss: Number.NaN }),
    },
  });
  const { items, measured } = await profileOf(broken);
  expect(items.find(({ item }) => item === 'kl_estimator')?.why).toContain('no reference model');
  expect(measured).toEqual({
    advantage_baseline: 'group-mean',
    advantage_scaling: 'group',
    advantage_ddof: 1,
    advantage_epsilon: 1e-4,
    advantage_epsilon_placement: 'std',
  });
});
