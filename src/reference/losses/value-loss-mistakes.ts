// What trainers were seen to compute in place of the critic's loss: the formula on other inputs, another clip, or all of it
// times a factor that has a name.
import type { Matrix } from '../../vocabulary.ts';
import type { Mistake } from '../mistake.ts';
import { cell } from '../shape.ts';
import { otherAggregations, otherCounts, otherParts, scaled } from './denominators.ts';
import {
  localValueLoss,
  type ValueLoss,
  type ValueLossInput,
  type ValueLossSettings,
  valueLoss,
  valueRows,
} from './value-loss.ts';

/** Each in these settings; `microBatches` are lists of rows, as they were sent. */
export function valueLossMistakes(
  input: ValueLossInput,
  settings: ValueLossSettings,
  microBatches: readonly (readonly number[])[],
): Mistake<ValueLoss>[] {
  const of = (changed: Partial<ValueLossInput>, other: Partial<ValueLossSettings> = {}): ValueLoss =>
    valueLoss({ ...input, ...changed }, { ...settings, ...other });
  const right = of({});
  return [
    ...(settings.clip === null
      ? []
      : [
          ...otherClips(input, settings, settings.clip),
          {
            words: 'values are not clipped',
            answer: of({}, { clip: null }),
            legal: true as const,
          },
        ]),
    { bug: 'LOSS-08', words: 'the factor of the squared error is lost', answer: scaled(right, 2) },
    { bug: 'LOSS-08', words: 'half of the squared error is taken once more', answer: scaled(right, 0.5) },
    { words: 'the sign is turned', answer: scaled(right, -1) },
    {
      bug: 'VAL-10',
      words: 'old_values are taken for the values',
      answer: unmoved(of({ values: input.old_values })),
    },
    {
      bug: 'VAL-11',
      words: 'values are compared with the returns one token on',
      answer: of({ returns: input.returns.map((row) => [...row.slice(1), 0]) }),
    },
    {
      bug: 'VAL-11',
      words: 'values are compared with the returns one token before',
      answer: of({ returns: input.returns.map((row) => [0, ...row.slice(0, -1)]) }),
    },
    {
      bug: 'VAL-11',
      words: 'the mask is shifted by one to the left',
      answer: of({ mask: input.mask.map((row) => [...row.slice(1), 0]) }),
    },
    {
      bug: 'VAL-11',
      words: 'the mask is shifted by one to the right',
      answer: of({ mask: input.mask.map((row) => [0, ...row.slice(0, -1)]) }),
    },
    {
      bug: 'MSK-06',
      words: 'every column is trained, prompt and padding as well',
      answer: of({ mask: input.mask.map((row) => row.map(() => 1)) }),
    },
    ...otherAggregations(settings.aggregation, (aggregation) => of({}, { aggregation })),
    ...otherCounts(right, input.mask),
    ...(microBatches.length > 1
      ? otherParts(
          localValueLoss(input, settings, microBatches),
          valueLoss(valueRows(input, microBatches.at(-1) ?? []), settings),
          microBatches,
        )
      : []),
  ];
}

/** What was said at sampling has no gradient. */
const unmoved = (loss: ValueLoss): ValueLoss => ({
  ...loss,
  weights: loss.weights.map((row) => row.map(() => 0)),
});

/** Squared errors (B, T) of each token, and their slopes by the value: the clip done in another way. */
function otherClips(input: ValueLossInput, settings: ValueLossSettings, clip: number): Mistake<ValueLoss>[] {
  const bounded = (value: number): number => Math.min(Math.max(value, -clip), clip);
  /** What `error` makes of value, old value and return, with a factor of each token as in the right answer. */
  const by = (
    error: (value: number, old: number, target: number) => readonly [number, number],
  ): ValueLoss => {
    // A return one below each value: every token has an error of 1, so that its slope is twice its factor.
    const unit = valueLoss({ ...input, returns: shifted(input.values, -1) }, { ...settings, clip: null });
    let loss = 0;
    const weights = unit.weights.map((row, b) =>
      row.map((double, t) => {
        if (double === 0) return 0;
        const [value, slope] = error(
          cell(input.values, b, t),
          cell(input.old_values, b, t),
          cell(input.returns, b, t),
        );
        loss += (double / 2) * value;
        return (double / 2) * slope + 0;
      }),
    );
    return { loss, weights, tokens: unit.tokens };
  };
  const free = (value: number, target: number) => [(value - target) ** 2, 2 * (value - target)] as const;
  const held = (value: number, target: number) => [(value - target) ** 2, 0] as const;
  const larger = (a: readonly [number, number], b: readonly [number, number]) => (b[0] > a[0] ? b : a);
  return [
    {
      bug: 'VAL-09',
      words: 'the smaller of the two errors is taken, not the larger',
      answer: by((v, old, target) => {
        const at = old + bounded(v - old);
        const [all, kept] = [free(v, target), at === v ? free(v, target) : held(at, target)];
        return kept[0] < all[0] ? kept : all;
      }),
    },
    {
      bug: 'VAL-09',
      words: 'values are clipped around their returns, not around old_values',
      answer: by((v, _, target) => larger(free(v, target), held(target + bounded(v - target), target))),
    },
    {
      bug: 'VAL-09',
      words: 'values themselves are clipped, not how far they have moved',
      answer: by((v, _, target) => larger(free(v, target), held(bounded(v), target))),
    },
    {
      bug: 'VAL-09',
      words: 'values are clipped above only',
      answer: by((v, old, target) => larger(free(v, target), held(Math.min(v, old + clip), target))),
    },
    {
      words: 'the clipped error counts alone, also where it is the smaller',
      answer: by((v, old, target) => {
        const at = old + bounded(v - old);
        return at === v ? free(v, target) : held(at, target);
      }),
      legal: true,
    },
  ];
}

const shifted = (values: Matrix, by: number): number[][] =>
  values.map((row) => row.map((value) => value + by));
