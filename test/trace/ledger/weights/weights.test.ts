// The rules about weights: each kills a step with its fault, and none blames a step of a correct trainer of any convention.
import { describe, expect, test } from 'vitest';
import { weightProperties } from '../../../../properties/ledger/weights/weights.ts';
import type { Settings } from '../../../../src/trace/ledger.ts';
import type { LossAggregation } from '../../../../src/vocabulary.ts';
import type { LedgerSketch } from '../../traced.ts';
import { ledgerOf } from '../../traced.ts';
import { after as andThen, policy, type Shape, supervised } from '../../weighed.ts';
import { holds, judged, silent, worst } from '../judged.ts';

const MICRO = 'loss/independent-of-micro-batches';
const RANKS = 'loss/independent-of-ranks';
const FOLLOWS = 'trace/weights-follow-the-aggregation';
const ONE = 'trace/one-weight-a-completion';
const KL = 'kl/equals-the-estimator';

const SFT: Partial<Settings> = {
  trainer: 'SFTTrainer',
  from: ["SFTConfig(loss_type='nll')"],
  semantics: { sft_aggregation: 'token-mean', loss_normalization: 'global' },
};
const said = (semantics: object): Partial<Settings> => ({
  from: [`--semantics ${Object.keys(semantics).join(', ')}`],
  semantics,
});
const grpo = (loss: string, aggregation: LossAggregation, more: object = {}): Partial<Settings> => ({
  trainer: 'GRPOTrainer',
  from: [`GRPOConfig(loss_type='${loss}')`],
  semantics: { loss_aggregation: aggregation, advantage_baseline: 'group-mean', kl_coef: 0, ...more },
  values: { num_generations: 4, loss_type: loss },
});

/** Everything that any of the rules finds. */
function blame(sketch: LedgerSketch): string[] {
  const ledger = ledgerOf(sketch);
  return weightProperties
    .filter(({ needs }) => needs?.(ledger) === undefined)
    .flatMap(({ id, judge }) => judge(ledger).findings.map(({ sentence }) => `${id}: ${sentence}`));
}

const UNEQUAL = [
  [
    [5, 3],
    [2, 7],
  ],
];
const TWO_RANKS = [[[5, 3]], [[2, 9]]];

describe('gradient accumulation', () => {
  test('the mean of micro-batch means is found, with both weights named', () => {
    const finding = worst(
      MICRO,
      supervised({
        lengths: [
          [
            [5, 3],
            [2, 3],
          ],
        ],
        local: true,
      }),
    );
    expect(finding.sentence).toContain(
      'weighs 0.1 in micro-batch 1 (5 tokens) and 0.0625 in micro-batch 0 (8 tokens)',
    );
    expect(finding.numbers?.[0]).toMatchObject({ observed: expect.closeTo(0.1, 8) });
    expect(finding.numbers?.[0]?.expected).toBeCloseTo(1 / 13, 12);
    expect(finding.strips?.[0]?.marks.length).toBeGreaterThan(0);
  });

  test('with one row a micro-batch it is a mean over rows as well: said, and blamed only where a token mean is shown or declared', () => {
    const one = supervised({ lengths: [[[5], [2], [9]]], local: true });
    silent(MICRO, one, 'a mean over rows looks the same, with one row in each');
    expect(judged(MICRO, one).notices).toEqual([
      {
        sentence: expect.stringContaining('With one row in each micro-batch this is a mean over rows'),
        answers: ['"sft_aggregation": "seq-mean-token-mean"', '"sft_aggregation": "token-mean"'],
      },
    ]);
    holds(MICRO, { ...one, settings: said({ sft_aggregation: 'seq-mean-token-mean' }) });
    holds(MICRO, { ...one, settings: said({ loss_normalization: 'local' }) });
    expect(worst(MICRO, { ...one, settings: said({ sft_aggregation: 'token-mean' }) }).kind).toBe('tokens');
    const shown = supervised({ lengths: [[[5, 3]]], step: 1 });
    expect(worst(MICRO, andThen(one, shown)).kind).toBe('tokens');
  });

  test('found under a trainer that declares the mean over the step', () => {
    const finding = worst(MICRO, { ...supervised({ lengths: UNEQUAL, local: true }), settings: SFT });
    expect(finding.note).toContain('declares a token-mean');
  });

  test('a mean over padded columns is told from one over tokens', () => {
    const sketch = supervised({
      lengths: [
        [
          [5, 3],
          [2, 9],
        ],
      ],
    });
    const rows = sketch.rows?.map((row) => ({
      ...row,
      weight: row.forward === 0 ? 1 / (2 * 6) : 1 / (2 * 10),
    }));
    expect(worst(MICRO, { ...sketch, rows: rows ?? [] }).kind).toBe('columns');
  });

  test('one weight for all is no fault, nor are counts that happen to be equal', () => {
    holds(MICRO, supervised({ lengths: UNEQUAL }));
    // Parameters that are changed by hand: no step was seen, and nobody knows which rows share one.
    const unseen = [{ index: 0, ranks: [{ rank: 0, optimizer: '' }] }];
    silent(
      MICRO,
      { ...supervised({ lengths: UNEQUAL, local: true }), steps: unseen },
      'the optimiser step was not finished',
    );
    holds(
      MICRO,
      supervised({
        lengths: [
          [
            [5, 3],
            [2, 6],
          ],
        ],
        local: true,
      }),
    );
  });

  test('a mean over rows of row means is a convention: where a batch of several rows shows it, single rows may follow it', () => {
    const first = supervised({ lengths: [[[5, 3]]], aggregation: 'seq-mean-token-mean' });
    const next = supervised({ lengths: [[[5], [2]]], aggregation: 'seq-mean-token-mean', step: 1 });
    holds(MICRO, andThen(first, next));
  });

  test('batches that are weighted on purpose, pairs and sampled rows are not judged by their counts', () => {
    const weighted = supervised({ lengths: UNEQUAL });
    const rows = weighted.rows?.map((row) => ({ ...row, weight: row.forward === 0 ? 0.1 : 0.05 })) ?? [];
    silent(
      MICRO,
      { ...weighted, rows },
      'the weights differ, and no count of tokens or columns explains that',
    );
    const pairs = rows.map((row, at) => ({ ...row, weight: at % 2 === 0 ? 0.1 : -0.1 }));
    silent(
      MICRO,
      { ...weighted, rows: pairs },
      'the tokens of a micro-batch do not have one weight, of 0 or more',
    );
    silent(
      MICRO,
      policy({ lengths: [[[5], [2]]], rewards: [1, 0], size: 2, aggregation: 'seq-mean-token-mean' }),
    );
  });

  test('what rounding does to tokens that the model is sure of is no fault', () => {
    const sketch = supervised({ lengths: UNEQUAL });
    const [row] = sketch.rows ?? [];
    if (row === undefined) throw new Error('no row');
    const sure = { ...row, at: { 3: { weight: (1 / 17) * 1.002, logprob: -1e-3 } } };
    holds(MICRO, { ...sketch, rows: [sure, ...(sketch.rows ?? []).slice(1)] });
  });
});

describe('data parallelism', () => {
  test('ranks that divide by their own tokens are found', () => {
    const sketch = supervised({ lengths: TWO_RANKS, local: true });
    expect(worst(RANKS, sketch).sentence).toContain('each process divides by its own tokens');
    silent(MICRO, sketch);
  });

  test('several micro-batches per rank, one denominator per rank', () => {
    const sketch = supervised({
      lengths: [
        [[5], [3]],
        [[2], [9]],
      ],
    });
    const rows = sketch.rows?.map((row) => ({ ...row, weight: row.rank === 0 ? 1 / 16 : 1 / 22 })) ?? [];
    expect(worst(RANKS, { ...sketch, rows }).kind).toBe('tokens');
    holds(MICRO, { ...sketch, rows });
  });

  test('one weight over all ranks is right, and so is what is declared', () => {
    holds(RANKS, supervised({ lengths: TWO_RANKS }));
    const own = supervised({ lengths: TWO_RANKS, local: true });
    holds(RANKS, {
      ...own,
      settings: { trainer: 'Trainer', values: { average_tokens_across_devices: false } },
    });
    holds(RANKS, { ...own, settings: said({ loss_normalization: 'local' }) });
  });

  test('processes whose gradients torch does not average are not compared', () => {
    const sketch = supervised({ lengths: TWO_RANKS, local: true });
    silent(RANKS, { ...sketch, rows: sketch.rows?.map((row) => ({ ...row, averagedOver: 1 })) ?? [] });
    const ddp = sketch.rows?.map((row) => ({ ...row, averagedOver: 2 })) ?? [];
    expect(worst(RANKS, { ...sketch, rows: ddp }).kind).toBe('tokens');
  });

  test('where micro-batches differ already, ranks are not blamed as well', () => {
    const sketch = supervised({
      lengths: [
        [[5, 4], [3]],
        [[2], [9]],
      ],
      local: true,
    });
    silent(RANKS, sketch);
    expect(worst(MICRO, sketch).kind).toBe('tokens');
  });
});

describe('the declared aggregation', () => {
  test('a row mean under the name of a token mean is found, and named', () => {
    const sketch = supervised({ lengths: [[[5, 3, 9]]], aggregation: 'seq-mean-token-mean' });
    const finding = worst(FOLLOWS, { ...sketch, settings: said({ sft_aggregation: 'token-mean' }) });
    expect(finding.sentence).toContain('The weights are those of a seq-mean-token-mean');
    silent(FOLLOWS, sketch);
    holds(FOLLOWS, { ...sketch, settings: said({ sft_aggregation: 'seq-mean-token-mean' }) });
  });

  test('a sum that lost its division by the accumulated micro-batches is found', () => {
    const sketch = supervised({
      lengths: [
        [
          [4, 4],
          [2, 6],
        ],
      ],
    });
    const rows = sketch.rows?.map((row) => ({ ...row, weight: 1 / 8 })) ?? [];
    const finding = worst(FOLLOWS, { ...sketch, rows, settings: SFT });
    expect(finding.sentence).toContain('add up to 2 instead of 1: it is not divided by the 2 micro-batches');
    holds(FOLLOWS, { ...sketch, settings: SFT });
  });

  test('a first column that is counted, and a loss that is scaled on purpose, are no such factor', () => {
    const sketch = supervised({
      lengths: [
        [
          [5, 3],
          [2, 7],
        ],
      ],
    });
    const scaled = (factor: number): LedgerSketch => ({
      ...sketch,
      settings: SFT,
      rows: sketch.rows?.map((row) => ({ ...row, weight: factor / 17 })) ?? [],
    });
    const texts = scaled(1).rows?.map((row) => ({ ...row, prompt: 1, weight: 1 / 25 })) ?? [];
    holds(FOLLOWS, { ...scaled(1), rows: texts });
    expect(judged(FOLLOWS, scaled(3)).findings).toEqual([]);
  });

  const REWARDS = [1, 0, 0.5, 0, 2, 2, 2, 2];
  const groups = [
    [
      [5, 3, 2, 7],
      [4, 4, 6, 1],
    ],
  ];

  test.each(['token-mean', 'seq-mean-token-mean', 'seq-mean-token-sum', 'token-sum-norm'] as const)(
    'advantages of a group that is weighted as a %s add up to 0',
    (aggregation) => {
      const sketch = policy({ lengths: groups, rewards: REWARDS, size: 4, aggregation });
      holds(FOLLOWS, { ...sketch, settings: grpo('any', aggregation) });
    },
  );

  test('a group that is weighted otherwise is found, and the way that fits is named', () => {
    const sketch = policy({ lengths: groups, rewards: REWARDS, size: 4, aggregation: 'seq-mean-token-mean' });
    const finding = worst(FOLLOWS, { ...sketch, settings: grpo('dapo', 'token-mean') });
    expect(finding.sentence).toContain('Read as a seq-mean-token-mean they do');
  });

  test('groups over micro-batches with denominators of their own: the token mean of a step is not that of each', () => {
    const split = [
      [
        [5, 3],
        [2, 7],
      ],
    ];
    const sketch = policy({ lengths: split, rewards: [1, 0, 0.5, 0], size: 4, local: true });
    expect(worst(FOLLOWS, { ...sketch, settings: grpo('dapo', 'token-mean') }).kind).toBe('group');
    holds(FOLLOWS, { ...sketch, settings: grpo('bnpo', 'token-mean', { loss_normalization: 'local' }) });
  });

  test('half a group, and completions without an end that are left out on purpose, are not judged', () => {
    const sketch = policy({ lengths: [[[5, 3]]], rewards: [1, 0.2], size: 2 });
    silent(
      FOLLOWS,
      { ...sketch, settings: grpo('dapo', 'token-mean') },
      'not all completions to the prompt are in the step, or only one is',
    );
    const whole = policy({ lengths: groups, rewards: REWARDS, size: 4, aggregation: 'seq-mean-token-mean' });
    const settings = grpo('dapo', 'token-mean', { truncated_completions_trained: false });
    silent(FOLLOWS, { ...whole, settings });
  });
});

describe('advantages less their baseline', () => {
  const CENTRED = 'trace/advantages-are-centred';
  const shape = { lengths: [[[6, 4, 5, 7]]], rewards: [1, 0, 0.5, 0.1], size: 4 };
  const baseline = said({ advantage_baseline: 'group-mean' });
  /** Every weight with its share of a mean added, as where nothing is subtracted. */
  const raised = (sketch: LedgerSketch, by: number): LedgerSketch => ({
    ...sketch,
    rows:
      sketch.rows?.map((row) => ({
        ...row,
        at: Object.fromEntries(
          Object.entries(row.at ?? {}).map(([t, each]) => [
            t,
            typeof each === 'object' && each !== null ? { ...each, weight: (each.weight ?? 0) + by } : each,
          ]),
        ),
      })) ?? [],
  });

  test('hold under every aggregation, declared or not', () => {
    for (const aggregation of ['token-mean', 'seq-mean-token-mean', 'seq-mean-token-sum'] as const) {
      holds(CENTRED, { ...policy({ ...shape, aggregation }), settings: baseline });
      holds(CENTRED, { ...policy({ ...shape, aggregation }), settings: grpo('any', aggregation) });
    }
    silent(CENTRED, policy(shape));
  });

  test('rewards without their baseline are found, and only here', () => {
    const settings = grpo('dapo', 'token-mean');
    const finding = worst(CENTRED, { ...raised(policy(shape), 0.41 / 22), settings });
    expect(finding.sentence).toContain('do not add up to 0');
    expect(finding.sentence).toContain('All of them are pushed up.');
    expect(judged(FOLLOWS, { ...raised(policy(shape), 0.41 / 22), settings }).findings).toEqual([]);
  });

  test('a completion without an end, or advantages of a kind of their own, may be left out', () => {
    const sketch = policy(shape);
    const cut =
      sketch.rows?.map((row, at) =>
        at === 0 ? { ...row, at: {}, weight: 0, trained: [], reached: true } : row,
      ) ?? [];
    const open = cut.map((row, at) =>
      at === 0 ? { ...row, spans: { ...row.spans, completions: [{ from: 3, to: 9 }] } } : row,
    );
    silent(
      CENTRED,
      { ...sketch, rows: open, settings: baseline },
      'a completion without a stop token may be left out on purpose',
    );
    // Unless it is declared that these are trained, or one of the same length is.
    const trained = said({ advantage_baseline: 'group-mean', truncated_completions_trained: true });
    expect(worst(CENTRED, { ...sketch, rows: open, settings: trained }).kind).toBe('baseline');
    const several = open.map((row, at) =>
      at === 3 ? { ...row, spans: { ...row.spans, completions: [{ from: 2, to: 8 }] } } : row,
    );
    expect(worst(CENTRED, { ...sketch, rows: several, settings: baseline }).kind).toBe('baseline');
    const shorter = open.map((row, at) =>
      at === 3 ? { ...row, spans: { ...row.spans, completions: [{ from: 2, to: 7 }] } } : row,
    );
    silent(
      CENTRED,
      { ...sketch, rows: shorter, settings: baseline },
      'a completion without a stop token may be left out on purpose',
    );
    const own = said({ advantage_baseline: 'group-mean', own_formulas: ['advantages'] });
    silent(CENTRED, { ...raised(sketch, 0.02), settings: own });
  });

  test('the KL term is taken off first, and where it cannot be, nothing is said', () => {
    const gap = (at: number, t: number): number => Math.sin(at * 3 + t * 2) / 3;
    const k3 = { kl_coef: 0.3, kl_estimator: 'k3', kl_clamp: null };
    const settings = said({ advantage_baseline: 'group-mean', loss_aggregation: 'token-mean', ...k3 });
    const sketch = policy({ ...shape, gap, beta: 0.3 });
    for (const id of [CENTRED, FOLLOWS]) holds(id, { ...sketch, settings });
    expect(worst(CENTRED, { ...raised(sketch, 0.41 / 22), settings }).kind).toBe('baseline');
    // The KL of the whole completion is in all of its weights alike.
    const whole = { ...raised(policy(shape), 0.004), scored: sketch.scored ?? [] };
    for (const id of [CENTRED, FOLLOWS])
      silent(id, { ...whole, settings }, 'the one weight of a completion cannot be told from a KL term');
    silent(
      CENTRED,
      { ...whole, settings: baseline },
      'the one weight of a completion cannot be told from a KL term',
    );
    const inReward = said({ advantage_baseline: 'group-mean', kl_coef: 0.3, kl_placement: 'reward' });
    holds(CENTRED, { ...policy(shape), scored: sketch.scored ?? [], settings: inReward });
  });
});

describe('one weight a completion', () => {
  const base = { lengths: [[[6, 4, 5, 7]]], rewards: [1, 0, 0.5, 0.1], size: 4 };
  const settings = grpo('dapo', 'token-mean');

  test('an advantage that is spread over the wrong axis is found, at its tokens', () => {
    const sketch = policy(base);
    const rows = sketch.rows?.map((row) => ({
      ...row,
      at: Object.fromEntries(
        Object.entries(row.at ?? {}).map(([t], each) => [t, { weight: 0.01 * (each + 1) }]),
      ),
    }));
    const finding = worst(ONE, { ...sketch, settings, rows: rows ?? [] });
    expect(finding.sentence).toContain('a completion has one advantage (GRPOTrainer)');
    expect(finding.strips?.[0]?.marks.length).toBeGreaterThan(2);
    expect(finding.numbers?.length).toBe(finding.strips?.[0]?.marks.length);
  });

  test('a single token that weighs twice is found', () => {
    const sketch = policy(base);
    const [row, ...rest] = sketch.rows ?? [];
    const heavy = { ...row, ids: row?.ids ?? [], at: { ...row?.at, 5: { weight: 0.5 } } };
    expect(worst(ONE, { ...sketch, settings, rows: [heavy, ...rest] }).strips?.[0]?.marks).toEqual([5]);
  });

  test('equal weights hold, and PPO, which has an advantage a token, is not asked', () => {
    holds(ONE, { ...policy(base), settings });
    silent(ONE, policy(base));
  });

  const gap = (at: number, t: number): number => Math.sin(at * 3 + t * 2) / 3;

  test('the KL term is taken off', () => {
    const sketch = policy({ ...base, gap, beta: 0.1 });
    const declared = grpo('dapo', 'token-mean', { kl_coef: 0.1, kl_estimator: 'k3', kl_clamp: null });
    holds(ONE, { ...sketch, settings: declared });
    expect(judged(ONE, { ...sketch, settings: declared }).labels).toEqual({ 'KL term taken off': 4 });
    holds(ONE, { ...sketch, settings: grpo('dapo', 'token-mean', { kl_coef: 0.1 }) });
    expect(worst(ONE, { ...sketch, settings }).kind).toBe('weights');
    const other = grpo('dapo', 'token-mean', {
      kl_coef: 0.1,
      kl_estimator: 'k2',
      kl_clamp: null,
      kl_ratio_correction: false,
    });
    expect(worst(ONE, { ...sketch, settings: other }).kind).toBe('weights');
  });

  test('rows of an earlier rollout have ratios, and are set aside', () => {
    const sketch = policy({ ...base, gap, beta: 0.1 });
    const late = sketch.rows?.map((row) => ({ ...row, step: 1 })) ?? [];
    expect(judged(ONE, { ...sketch, settings, rows: late, scored: [] })).toMatchObject({ findings: [] });
  });

  test('old log-probabilities of another pass explain as much as they differ', () => {
    const sketch = policy(base);
    const rows = sketch.rows ?? [];
    const noisy = rows.map((row) => ({
      ...row,
      at: Object.fromEntries(
        Object.entries(row.at ?? {}).map(([t, each], at) => [
          t,
          {
            ...(typeof each === 'object' ? each : {}),
            weight: 0.05 * Math.exp(at % 2 === 0 ? 0.001 : -0.001),
          },
        ]),
      ),
    }));
    const old = rows.map(({ at: _, ...row }) => ({
      ...row,
      by: 'policy' as const,
      logprobs: row.logprobs?.map((each, t) => each + (t % 2 === 0 ? 0.001 : -0.001)) ?? [],
    }));
    holds(ONE, { ...sketch, settings, rows: noisy, scored: old });
    expect(worst(ONE, { ...sketch, settings, rows: noisy }).kind).toBe('weights');
  });

  test('the coefficient of the KL term is read, and another one than declared is found', () => {
    const sketch = policy({ ...base, gap, beta: 0.1 });
    const declared = (beta: number) =>
      grpo('dapo', 'token-mean', {
        kl_coef: beta,
        kl_estimator: 'k3',
        kl_clamp: null,
        kl_ratio_correction: false,
        loss_normalization: 'global',
      });
    holds(KL, { ...sketch, settings: declared(0.1) });
    expect(worst(KL, { ...sketch, settings: declared(0.04) }).numbers?.[0]?.observed).toBeCloseTo(0.1, 6);
    const minus = policy({ ...base, gap, beta: -0.1 });
    const hand = said({ advantage_baseline: 'group-mean', kl_coef: 0.1, kl_estimator: 'k3' });
    expect(worst(KL, { ...minus, settings: hand }).sentence).toContain('of the wrong sign');
    holds(KL, { ...sketch, settings: hand });
  });

  test('where nobody declares a KL its sign is judged, and a ratio to a reference that sampled is none', () => {
    const nobody = said({ advantage_baseline: 'group-mean' });
    holds(KL, { ...policy({ ...base, gap, beta: 0.1 }), settings: nobody });
    const minus = policy({ ...base, gap, beta: -0.1 });
    expect(worst(KL, { ...minus, settings: nobody }).sentence).toContain('of the wrong sign');
    const oneSign = { ...minus, rows: minus.rows?.slice(0, 1) ?? [] };
    silent(KL, { ...oneSign, settings: nobody }, 'no KL is declared, and other terms bend weights, too');
    for (const small of [1, 1e-3]) {
      const near = (at: number, t: number): number => small * gap(at, t);
      const plain = policy({ ...base, gap: near, beta: 0 });
      const rows = plain.rows?.map((row, at) => ({
        ...row,
        at: Object.fromEntries(
          Object.entries(row.at ?? {}).map(([t, told]) => [
            t,
            typeof told === 'object' && told !== null
              ? { ...told, weight: (told.weight ?? 0) * Math.exp(-near(at, Number(t))) }
              : told,
          ]),
        ),
      }));
      expect(judged(KL, { ...plain, rows: rows ?? [], settings: nobody }).findings).toEqual([]);
    }
  });

  test('a reference that is the policy says nothing of the coefficient', () => {
    const sketch = policy({ ...base, gap: () => 0, beta: 0.1 });
    const declared = grpo('dapo', 'token-mean', { kl_coef: 0.04, kl_estimator: 'k3' });
    silent(KL, { ...sketch, settings: declared }, 'no estimator of a KL explains the weights of the row');
    holds(ONE, { ...sketch, settings: declared });
  });
});

describe('no rule blames a correct trainer', () => {
  const shapes: Shape['lengths'][] = [
    [[[5, 3]]],
    [
      [
        [5, 3],
        [2, 7],
      ],
    ],
    [
      [
        [5, 3],
        [2, 7],
        [1, 9],
      ],
    ],
    [
      [
        [5, 3],
        [2, 7],
      ],
      [
        [4, 4],
        [8, 1],
      ],
    ],
    [[[4]], [[9]]],
  ];
  const sides = ['left', 'right'] as const;

  test.each(shapes.map((lengths) => [JSON.stringify(lengths), lengths] as const))(
    'supervised, %s tokens by rank, micro-batch and row',
    (_, lengths) => {
      for (const side of sides) {
        const step = supervised({ lengths, side });
        for (const settings of [
          undefined,
          SFT,
          { trainer: 'Trainer' },
          said({ sft_aggregation: 'token-mean' }),
        ])
          expect(blame({ ...step, ...(settings === undefined ? {} : { settings }) })).toEqual([]);
        if (lengths.flat().every((batch) => batch.length > 1))
          expect(blame(supervised({ lengths, side, aggregation: 'seq-mean-token-mean' }))).toEqual([]);
        expect(blame(supervised({ lengths, side, aggregation: 'token-sum-norm' }))).toEqual([]);
      }
    },
  );

  const WAYS = ['token-mean', 'seq-mean-token-mean', 'seq-mean-token-sum', 'token-sum-norm'] as const;
  test.each(WAYS)('a policy with groups of two and four, weighted as a %s', (aggregation) => {
    for (const side of sides)
      for (const size of [2, 4])
        for (const beta of [0, 0.1])
          for (const temperature of [1, 0.7]) {
            const rewards = [1, 0, 0.5, 0, 3, 3, 3, 3];
            const gap = (at: number, t: number): number => Math.cos(at + t * 2) / 4;
            const sketch = policy({
              lengths: [
                [
                  [5, 3, 2, 7],
                  [4, 4, 6, 2],
                ],
              ],
              rewards,
              size,
              side,
              aggregation,
              temperature,
              ...(beta > 0 ? { beta, gap } : {}),
            });
            const declared = grpo('any', aggregation, { kl_coef: beta, kl_clamp: null });
            const values = { ...declared.values, num_generations: size };
            expect(blame({ ...sketch, settings: { ...declared, values } })).toEqual([]);
            expect(blame(sketch)).toEqual([]);
            const again = policy({
              lengths: [[[5, 3, 2, 7]]],
              rewards,
              size,
              step: 1,
              aggregation,
              temperature,
            });
            expect(blame({ ...andThen(sketch, again), settings: { ...declared, values } })).toEqual([]);
          }
  });

  test('leave-one-out with sequence weights, over two ranks', () => {
    const sketch = policy({
      lengths: [[[5, 3]], [[2, 7]]],
      rewards: [1, 0, 0.5, 0],
      size: 4,
      aggregation: 'seq-mean-token-sum',
    });
    const settings = {
      trainer: 'RLOOTrainer',
      from: ['RLOOConfig()'],
      semantics: {
        loss_aggregation: 'seq-mean-token-sum' as const,
        advantage_baseline: 'leave-one-out' as const,
        kl_placement: 'reward' as const,
      },
      values: { num_generations: 4 },
    };
    expect(blame({ ...sketch, settings })).toEqual([]);
    holds(ONE, { ...sketch, settings });
    holds(FOLLOWS, { ...sketch, settings });
  });

  test('preference pairs, with a reference that scores them, chunked and padded otherwise', () => {
    const sketch = supervised({ lengths: [[[5, 3, 4, 6]]], side: 'left' });
    const rows = sketch.rows?.map((row, at) => ({ ...row, weight: at < 2 ? 0.05 : -0.05 })) ?? [];
    const scored = rows.map(({ weight: _, left: __, ...row }, at) => ({
      ...row,
      forward: at,
      row: 0,
      model: 1,
    }));
    expect(blame({ ...sketch, rows, scored })).toEqual([]);
  });
});
