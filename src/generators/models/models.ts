// Batches for a trainer that runs a whole model: which model, by name, and the rows that go through it.
import fc from 'fast-check';
import type { Route } from '../../vocabulary.ts';
import { type Batch, type BatchOptions, batch, batchLabels } from '../rollouts/batch.ts';
import { type PairBatch, pairBatch } from '../rows/pairs.ts';

export interface ModelBatch<Kind extends string = string> extends Batch {
  readonly kind: Kind;
  /** Names the weights, with the kind and the vocabulary. */
  readonly seed: number;
  readonly temperature: number;
}

/** The same with what a step of training is told. */
export interface StepBatch<Kind extends string = string> extends ModelBatch<Kind> {
  /** `sft`: the advantages are not sent. */
  readonly route: Route;
  /** One a row. */
  readonly advantages: readonly number[];
  readonly learningRate: number;
}

/** Pairs of completions that one step prefers one of, and for which models. */
export interface PairStep<Kind extends string = string> extends PairBatch {
  readonly kind: Kind;
  readonly seed: number;
  readonly learningRate: number;
}

/** A trainer builds itself anew for each model: a few are enough, since rows differ. */
const SEEDS = 2;
/** Powers of two but one: dividing by it is not exact. */
const TEMPERATURES = [1, 0.5, 2, 0.7];
/** Large, since what a step moves is read off numbers that were rounded to float32. */
const RATES = [1, 0.5, 0.25];
/** Of one step in so many there are more rows than fill a micro-batch of 4, or of 8. */
const MANY_ONE_IN = 3;
const LEAST_ROWS = 5;
const MOST_ROWS = 9;
/** An advantage, where none is drawn. */
const SOME = 0.25;

export interface ModelBatchOptions<Kind extends string> extends BatchOptions {
  readonly kinds: readonly Kind[];
  /** Other temperatures than 1. */
  readonly temperatures?: boolean;
}

/** An arbitrary batch for one of a few models. */
export function modelBatch<Kind extends string>(
  options: ModelBatchOptions<Kind>,
): fc.Arbitrary<ModelBatch<Kind>> {
  const { temperatures = false, kinds, ...rest } = options;
  return fc
    .tuple(
      batch(rest),
      fc.constantFrom(...kinds),
      fc.nat(SEEDS - 1),
      temperatures ? fc.constantFrom(...TEMPERATURES) : fc.constant(1),
    )
    .map(([drawn, kind, seed, temperature]) => ({ ...drawn, kind, seed, temperature }));
}

/** Likewise, with advantages of either sign. Some are 0, as those of a group of equal rewards are: their tokens move nothing, and count. */
export function stepBatch<Kind extends string>(
  options: ModelBatchOptions<Kind> & { readonly routes: readonly Route[] },
): fc.Arbitrary<StepBatch<Kind>> {
  const { routes, ...rest } = options;
  const advantage = fc
    .oneof(
      { weight: 3, arbitrary: fc.integer({ min: -8, max: 8 }) },
      { weight: 1, arbitrary: fc.constant(0) },
    )
    .map((n) => n / 4 + 0);
  return fc
    .tuple(
      someOfMany((rows) => modelBatch({ ...rest, ...rows })),
      fc.constantFrom(...routes),
      fc.array(advantage, { minLength: MOST_ROWS, maxLength: MOST_ROWS }),
      fc.constantFrom(...RATES),
    )
    .map(([drawn, route, all, learningRate]) => {
      const advantages = all.slice(0, drawn.prompts.length);
      // A step that moves nothing says nothing.
      return {
        ...drawn,
        route,
        learningRate,
        advantages: advantages.some(Boolean) ? advantages : advantages.map(() => SOME),
      };
    });
}

/** Mostly as it is; of some the rows are many. */
const someOfMany = <T>(
  made: (rows: { readonly minRows?: number; readonly maxRows?: number }) => fc.Arbitrary<T>,
): fc.Arbitrary<T> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight: MANY_ONE_IN - 1, arbitrary: made({}) },
    { weight: 1, arbitrary: made({ minRows: LEAST_ROWS, maxRows: MOST_ROWS }) },
  );

/** An arbitrary batch of preference pairs for a step of one of a few models. */
export function pairStep<Kind extends string>({
  tokens,
  kinds,
}: Pick<ModelBatchOptions<Kind>, 'kinds' | 'tokens'>): fc.Arbitrary<PairStep<Kind>> {
  return fc
    .tuple(
      someOfMany((rows) => pairBatch(tokens, rows)),
      fc.constantFrom(...kinds),
      fc.nat(SEEDS - 1),
      fc.constantFrom(...RATES),
    )
    .map(([pairs, kind, seed, learningRate]) => ({ ...pairs, kind, seed, learningRate }));
}

/** What a step exercises. */
export function stepLabels(drawn: StepBatch): string[] {
  const route = drawn.route === 'sft' ? 'supervised' : 'with advantages';
  return [...modelLabels(drawn), route, ...(drawn.advantages.includes(0) ? ['an advantage of 0'] : [])];
}

/** What a batch exercises. */
export function modelLabels(drawn: ModelBatch): string[] {
  return [...batchLabels(drawn), ...(drawn.temperature === 1 ? [] : ['temperature other than 1'])];
}
