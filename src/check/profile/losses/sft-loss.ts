// The denominators of the supervised loss. They speak for `loss_aggregation` and `loss_normalization` only where the
// trainer has no policy loss, whose items these are first.
import fc from 'fast-check';
import {
  localSftLoss,
  logprobsOf,
  type SftObjective,
  sftFactor,
  sftLoss,
  tokenFactors,
} from '../../../reference/index.ts';
import { CHOICES, type Cube, IGNORE_INDEX, type Matrix } from '../../../vocabulary.ts';
import { bandOf } from '../../numbers.ts';
import type { Subject, World } from '../../property.ts';
import { draw, misfitOf, type Probe, settled, type Variant } from '../probe.ts';
import { lackOfParts } from './aggregation.ts';
import { type Effect, effectPairs } from './policy.ts';

export interface SftBatch {
  readonly ids: Matrix;
  /** Trained tokens at the end of each row. */
  readonly trained: readonly number[];
  /** Of three of them or more, the last but one is not: a mean of turns is none of the row. */
  readonly holes?: boolean;
  readonly logits: Cube;
}

interface SftWay extends Variant {
  readonly expect: (given: SftBatch, objective: SftObjective | undefined) => Required<Effect>;
}

export const sftAggregation: Probe<SftBatch> = {
  id: 'sft_aggregation',
  items: ['loss_aggregation', 'loss_norm'],
  ops: ['sft_loss'],
  lack: notFirst,
  variants: async (subject) => {
    const norm = await solvedNorm(subject);
    return CHOICES.loss_aggregation.values.map((aggregation): SftWay => {
      const constant = aggregation === 'token-sum-norm';
      return {
        name: constant ? `${aggregation} (divided by ${norm})` : aggregation,
        items: { loss_aggregation: aggregation, ...(constant ? { loss_norm: norm } : {}) },
        expect: (given, objective) =>
          weighted(given, tokenFactors(maskOf(given), { aggregation, norm }), objective),
      };
    });
  },
  cases: (_, drawn) => draw(batches(), LEAST + drawn),
  async fits(subject, given, variants) {
    const observed = await ask(subject, given, [given.trained.map((_, row) => row)]);
    const band = bandOf(subject, VOCABULARY);
    return (variants as readonly SftWay[]).map(({ expect }) =>
      misfitOf(effectPairs(observed, expect(given, subject.semantics.sft_objective)), band.allowed),
    );
  },
};

export const sftNormalization: Probe<SftBatch> = {
  id: 'sft_normalization',
  items: ['loss_normalization'],
  ops: ['sft_loss'],
  lack: (world) =>
    notFirst(world) ??
    lackOfParts('sft_loss', world) ??
    (world.semantics.loss_aggregation === 'token-mean'
      ? undefined
      : 'only a mean over tokens has a count of tokens to share'),
  variants: async () =>
    [
      {
        name: 'the count of the whole batch',
        items: { loss_normalization: 'global' },
        expect: (given, objective) => sftLoss(given.logits, labelsOf(given), objective),
      },
      {
        name: 'the mean of micro-batches with counts of their own',
        items: { loss_normalization: 'local' },
        expect: (given, objective) => localSftLoss(given.logits, labelsOf(given), PARTS, objective),
      },
    ] satisfies SftWay[],
  cases: sftAggregation.cases,
  async fits(subject, given, variants) {
    const observed = await ask(subject, given, PARTS);
    const band = bandOf(subject, VOCABULARY);
    return (variants as readonly SftWay[]).map(({ expect }) =>
      misfitOf(effectPairs(observed, expect(given, subject.semantics.sft_objective)), band.allowed),
    );
  },
};

function notFirst({ hello }: World): string | undefined {
  return hello.ops.loss === undefined ? undefined : 'op `loss` speaks for it';
}

export async function ask(
  subject: Subject,
  given: SftBatch,
  micro_batches: readonly number[][],
): Promise<Effect> {
  const { loss, loss_weights: weights } = await subject.ask('sft_loss', {
    input_ids: given.ids,
    attention_mask: given.ids.map((row) => row.map(() => 1)),
    labels: labelsOf(given),
    logits: given.logits,
    micro_batches,
  });
  return weights === undefined ? { loss } : { loss, weights };
}

/** What a sum over one token is divided by. */
async function solvedNorm(subject: Subject): Promise<number> {
  const [first] = draw(batches(), 1);
  if (first === undefined) return 1;
  const alone: SftBatch = { ids: first.ids.slice(0, 1), trained: [1], logits: first.logits.slice(0, 1) };
  const { loss } = await ask(subject, alone, [[0]]);
  const { sft_objective: objective } = subject.semantics;
  return settled(weighted(alone, maskOf(alone), objective).loss / loss, SOLVED, subject.semantics.loss_norm);
}

function weighted(given: SftBatch, factors: Matrix, objective: SftObjective = 'nll'): Required<Effect> {
  const logprobs = logprobsOf(given.logits, given.ids);
  let loss = 0;
  const weights = factors.map((row, b) =>
    row.map((factor, t) => {
      if (factor === 0) return 0;
      const logprob = logprobs[b]?.[t] ?? Number.NaN;
      const weight = factor * sftFactor(logprob, objective);
      loss -= weight * logprob;
      return -weight;
    }),
  );
  return { loss, weights };
}

const maskOf = ({ ids, trained, holes }: SftBatch): number[][] =>
  ids.map((row, b) => {
    const [count = 0, hole] = [trained[b], row.length - 2];
    return row.map((_, t) => (t < row.length - count || (holes && count > 2 && t === hole) ? 0 : 1));
  });

export const labelsOf = (given: SftBatch): number[][] =>
  maskOf(given).map((row, b) => row.map((on, t) => (on === 1 ? (given.ids[b]?.[t] ?? 0) : IGNORE_INDEX)));

export const VOCABULARY = 5;
const WIDTH = 5;
export const LEAST = 3;
/** Three rows in parts that train unequally many tokens. */
const PARTS = [[0], [1, 2]];
const SOLVED = 1e-4;

/** Rows without padding that train 1, 4 and 2 tokens, and the like, side by side or not. */
export function batches(): fc.Arbitrary<SftBatch> {
  const logit = fc.integer({ min: -24, max: 24 }).map((n) => n / 8 + 0);
  const rows = <T>(cell: fc.Arbitrary<T>): fc.Arbitrary<T[][]> =>
    fc.array(fc.array(cell, { minLength: WIDTH, maxLength: WIDTH }), { minLength: 3, maxLength: 3 });
  return fc.record({
    ids: rows(fc.nat(VOCABULARY - 1)),
    trained: fc.constantFrom([1, 4, 2], [3, 1, 4], [1, 2, 3]),
    holes: fc.boolean(),
    logits: rows(fc.array(logit, { minLength: VOCABULARY, maxLength: VOCABULARY })),
  });
}
