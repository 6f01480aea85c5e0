// Random inputs for the oracles' tests. Not the generators of src/: those are for trainers.
import fc from 'fast-check';
import type {
  BalanceInput,
  BalanceSettings,
  KlVariant,
  LossSettings,
  PolicyLossInput,
  UnpairedLossInput,
  UnpairedSettings,
} from '../../src/reference/index.ts';
import { CHOICES } from '../../src/vocabulary.ts';

const real = (most: number): fc.Arbitrary<number> =>
  fc.double({ min: -most, max: most, noNaN: true, noDefaultInfinity: true });

const matrix = <T>(value: fc.Arbitrary<T>, rows: number, columns: number): fc.Arbitrary<T[][]> => {
  const row = fc.array(value, { minLength: columns, maxLength: columns });
  return fc.array(row, { minLength: rows, maxLength: rows });
};

export const klVariant: fc.Arbitrary<KlVariant> = fc
  .record({
    // Without abs, whose corner at 0 no finite difference sees.
    estimator: fc.constantFrom('k1' as const, 'k2' as const, 'k3' as const),
    clampTo: fc.constantFrom(null, 0.5, 2, 10, [null, 0.5] as const, [-0.5, 2] as const),
    where: fc.constantFrom('log-ratio' as const, 'estimate' as const),
    ratioCorrection: fc.boolean(),
    ofRow: fc.constantFrom(undefined, undefined, 'mean' as const, 'sum' as const),
    over: fc.constantFrom('tokens' as const, 'rows' as const, 'rows with tokens' as const),
  })
  .map(({ estimator, clampTo, where, ratioCorrection, ofRow, over }) => ({
    estimator,
    clamp: clampTo,
    clampWhere: clampTo === null ? null : where,
    ratioCorrection: ratioCorrection && ofRow === undefined,
    ...(ofRow === undefined ? {} : { ofRow, over }),
  }));

export const lossSettings: fc.Arbitrary<LossSettings> = fc.record({
  aggregation: fc.constantFrom(
    'token-mean' as const,
    'seq-mean-token-mean' as const,
    'seq-mean-token-sum' as const,
    'token-sum-norm' as const,
  ),
  norm: fc.constantFrom(1, 7, 64),
  emptyRows: fc.constantFrom('count' as const, 'skip' as const),
  clipLow: fc.constantFrom(0.1, 0.2, Infinity),
  clipHigh: fc.constantFrom(0.2, 0.28, Infinity),
  klCoef: fc.constantFrom(0, 0.04, 1),
  kl: fc.option(klVariant),
});

/** The same with the other objectives: one ratio a sequence, a dual clip, CISPO, a clamped log-ratio. */
export const objectiveSettings: fc.Arbitrary<LossSettings> = fc
  .tuple(
    lossSettings,
    fc.constantFrom<Partial<LossSettings>>(
      { ratioLevel: 'sequence' },
      { ratioLevel: 'sequence', dualClip: 1.5 },
      { ratioLevel: 'sequence', logRatioClamp: 0.5 },
      { dualClip: 3 },
      { objective: 'cispo' },
      { objective: 'cispo', logRatioClamp: 0.5 },
      { logRatioClamp: 1 },
      { logRatioClamp: 2, dualClip: 1.5 },
    ),
  )
  .map(([settings, more]) => ({ ...settings, ...more }));

/** Rows of log-probabilities with masks that have gaps and empty rows, advantages of every sign and 0. */
export const policyLossInput: fc.Arbitrary<PolicyLossInput> = fc
  .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 6 }))
  .chain(([rows, columns]) =>
    fc.record({
      logprobs: matrix(real(4), rows, columns),
      old_logprobs: matrix(real(4), rows, columns),
      ref_logprobs: matrix(real(4), rows, columns),
      advantages: fc.array(fc.oneof(fc.constant(0), real(3)), { minLength: rows, maxLength: rows }),
      mask: matrix(fc.constantFrom(0, 1), rows, columns),
    }),
  );

/** Logits (B, T, V) with -Infinity and huge entries, ids (B, T) inside the vocabulary, labels with -100. */
export const scoring = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 2, max: 5 }), fc.integer({ min: 2, max: 7 }))
  .chain(([rows, columns, vocabulary]) => {
    const id = fc.integer({ min: 0, max: vocabulary - 1 });
    const entry = fc.oneof(
      { weight: 8, arbitrary: real(20) },
      { weight: 1, arbitrary: fc.constantFrom(1e4, -1e4, 700, -Infinity) },
    );
    // One finite entry a position, so that a distribution exists.
    const position = fc
      .array(entry, { minLength: vocabulary - 1, maxLength: vocabulary - 1 })
      .chain((rest) => real(20).map((z) => [z, ...rest]));
    const row = fc.array(position, { minLength: columns, maxLength: columns });
    return fc.record({
      logits: fc.array(row, { minLength: rows, maxLength: rows }),
      ids: matrix(id, rows, columns),
      labels: matrix(fc.oneof(id, fc.constant(-100)), rows, columns),
      temperature: fc.constantFrom(0.3, 0.6, 1, 1.2, 2),
    });
  });

/** In steps of 0.01: rewards that differ by a few units in the last place have no digits left to compare. */
const reward = fc.integer({ min: -100_000, max: 100_000 }).map((hundredths) => hundredths / 100);

export const rewardGroups = fc
  .array(fc.tuple(fc.constantFrom(3, 7, 1, 12), fc.oneof(fc.constantFrom(0, 0.1, 1), reward)), {
    minLength: 1,
    maxLength: 12,
  })
  .map((rows) => ({ rewards: rows.map(([, r]) => r), groupIds: rows.map(([id]) => id) }));

export const penalised = fc.integer({ min: 2, max: 9 }).chain((vocabulary) => {
  const ids = fc.array(fc.integer({ min: 0, max: vocabulary - 1 }), { maxLength: 8 });
  return fc.record({
    logits: fc.array(fc.oneof(real(9), fc.constantFrom(0, -Infinity)), {
      minLength: vocabulary,
      maxLength: vocabulary,
    }),
    prompt: ids,
    generated: ids,
    presence: fc.constantFrom(0, 0.3, -0.5, 2),
    frequency: fc.constantFrom(0, 0.2, 1),
    repetition: fc.constantFrom(1, 1.3, 2, 0.8),
  });
});

export const ragged = fc.array(fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 6 }), {
  minLength: 1,
  maxLength: 5,
});

/** A row's tokens under policy and reference, as two rows. */
const likened = fc
  .array(fc.tuple(real(9), real(9)), { minLength: 1, maxLength: 4 })
  .map((tokens) => [tokens.map(([logprob]) => logprob), tokens.map(([, ref]) => ref)] as const);
/** Labelled completions, and those that the KL is of. */
export const unpairedLossInput: fc.Arbitrary<UnpairedLossInput> = fc
  .array(fc.tuple(likened, fc.nat(1), likened), { minLength: 1, maxLength: 4 })
  .map((rows) => ({
    logprobs: rows.map(([[logprobs]]) => logprobs),
    ref_logprobs: rows.map(([[, refs]]) => refs),
    desirable: rows.map(([, kind]) => kind),
    kl_logprobs: rows.map(([, , [logprobs]]) => logprobs),
    ref_kl_logprobs: rows.map(([, , [, refs]]) => refs),
  }));
export const unpairedLossSettings: fc.Arbitrary<UnpairedSettings> = fc.record({
  objective: fc.constantFrom('kto' as const, 'apo_zero' as const),
  beta: fc.constantFrom(0.1, 0.5),
  desirableWeight: fc.constantFrom(1, 1.5),
  undesirableWeight: fc.constantFrom(1, 2),
});

/** Router logits (B, T, layers x experts), no two of a token and layer alike; each row has a token somewhere. */
export const balanceInput: fc.Arbitrary<BalanceInput> = fc
  .record({
    experts: fc.integer({ min: 2, max: 4 }),
    layers: fc.integer({ min: 1, max: 3 }),
    rows: fc.integer({ min: 1, max: 4 }),
    columns: fc.integer({ min: 1, max: 3 }),
  })
  .chain(({ experts, layers, rows, columns }) =>
    fc.record({
      router_logits: matrix(
        fc
          .array(fc.integer({ min: -16, max: 16 }), {
            minLength: layers * experts,
            maxLength: layers * experts,
          })
          .map((all) => all.map((n, at) => n / 4 + (at % experts) / 64)),
        rows,
        columns,
      ),
      attention_mask: matrix(fc.nat(1), rows, columns).map((mask) =>
        mask.map((row, at) => (row.includes(1) ? row : row.with(at % columns, 1))),
      ),
      experts: fc.constant(experts),
      top_k: fc.integer({ min: 1, max: experts }),
      micro_batches: fc.constantFrom(
        [Array.from({ length: rows }, (_, row) => row)],
        Array.from({ length: rows }, (_, row) => [row]),
      ),
    }),
  );
export const balanceSettings: fc.Arbitrary<BalanceSettings> = fc.record({
  coef: fc.constantFrom(1, 0.01),
  counts: fc.constantFrom(...CHOICES.balance_counts.values),
  scores: fc.constantFrom(...CHOICES.balance_scores.values),
  layers: fc.constantFrom(...CHOICES.balance_layers.values),
  scope: fc.constantFrom(...CHOICES.balance_scope.values),
});
