// Whitening under a mask: relations first, whose smallest cases are the easiest to read.
import {
  type Args,
  answersOf,
  bandOf,
  describeWhitening,
  discard,
  gapsBehind,
  impliedShrink,
  isHalf,
  largeWhitenCase,
  layGaps,
  type Matrix,
  moments,
  type Observed,
  oneTokenCase,
  type Property,
  redrawn,
  relations,
  roundedTo,
  type Subject,
  show,
  stripOf,
  trainedTokens,
  underGaps,
  underMask,
  type WhitenCase,
  type World,
  whitenCase,
  whitened,
  whitenLabels,
  whitenVariants,
} from '../../src/index.ts';

const prefix = 'advantages/whitening-';
const base = { stage: 'advantages', level: 'must', ops: ['whiten'], labels: whitenLabels } as const;
const coverage = { 'unequal completions': 0.2, gap: 0.15, 'equal values': 0.05 };
/** One has no spread. */
const LEAST_TOKENS = 2;

/** Fewer trained tokens than `least` are left where a case was made small: nothing is to be whitened then. */
function argsOf(drawn: WhitenCase, least = LEAST_TOKENS, ranks = false): Args<'whiten'> {
  if (trainedTokens(drawn) < least) return discard('too few tokens are trained');
  const laid = layGaps<'value'>(drawn);
  const parts = new Map<number, number[]>();
  for (const [row, { rank }] of drawn.rows.entries()) parts.set(rank, [...(parts.get(rank) ?? []), row]);
  return {
    values: laid.track('value'),
    completion_mask: laid.completion_mask,
    prompt_width: laid.prompt_width,
    ...(ranks ? { ranks: [...parts.values()] } : {}),
  };
}

/** Of equal values there is no difference to keep. */
function hasSpread(drawn: WhitenCase): boolean {
  const values = drawn.rows.flatMap(({ tokens }) => tokens.filter(({ trained }) => trained));
  return new Set(values.map(({ value }) => value)).size > 1;
}

const ask = async (subject: Subject, args: Args<'whiten'>): Promise<Matrix> =>
  (await subject.ask('whiten', args)).values;

/** Whitening magnifies the rounding of a mean by what it divides by. */
const magnified = (deviation: number): number => Math.max(1, 1 / Math.max(deviation, 1e-2));

/**
 * What an op that whitens in half precision is off by, inside a trainer that does not: the values, their mean and what is
 * left of both are rounded before they are divided, and the result is. Nothing where the answers are not so short.
 */
function halfSlack(world: World, values: Matrix, mask: Matrix, observed: Matrix): number {
  const after = underMask(observed, mask);
  const spacing = roundedTo(world, after);
  if (spacing === undefined) return 0;
  const largest = (all: readonly number[]): number => Math.max(0, ...all.map(Math.abs));
  const { deviation } = moments(values, mask, 0);
  // Equal values are rounded alike, and nothing of that is left to be magnified.
  const by = deviation === 0 ? 1 : magnified(deviation);
  return ROUNDINGS * spacing * (largest(underMask(values, mask)) * by + largest(after));
}
/** Of half a spacing each: value, mean, difference, deviation. */
const ROUNDINGS = 2;

const unit: Property<WhitenCase> = {
  ...base,
  id: `${prefix}gives-deviation-1`,
  settles: ['whiten_mean', 'whiten_ddof'],
  title: 'Whitened numbers have mean 0 (where the mean is subtracted) and deviation 1 over trained tokens',
  why: 'Statistics that count padding leave a mean that pushes every token of the batch in one direction.',
  catches: ['ADV-06', 'PAD-09', 'NUM-01'],
  given: (world) => largeWhitenCase({ minTrained: LEAST_TOKENS, half: isHalf(world) }),
  coverage: { ...coverage, 'many rows': 0.1 },
  async check(subject, drawn) {
    const args = argsOf(drawn);
    const { values, completion_mask: mask } = args;
    const observed = await ask(subject, args);
    const variants = whitenVariants(subject.semantics);
    const tries = variants.map((variant) => {
      const { deviation, count } = moments(values, mask, variant.ddof);
      const shrink = impliedShrink(values, mask, observed, variant);
      const want = moments(whitened(values, mask, variant, shrink), mask, variant.ddof);
      const got = moments(observed, mask, variant.ddof);
      const slack =
        bandOf(subject, count).absolute * magnified(deviation) + halfSlack(subject, values, mask, observed);
      const near = (a: number, b: number): boolean =>
        Math.abs(a - b) <= slack + Math.abs(b) * bandOf(subject).relative;
      // Equal values whose mean is kept are divided by an epsilon: every finite mean is right.
      const anyMean = deviation === 0 && variant.mean === 'scaled' && Number.isFinite(got.mean);
      const fits = (anyMean || near(got.mean, want.mean)) && near(got.deviation, want.deviation);
      return { variant, got, want, fits };
    });
    if (tries.some(({ fits }) => fits)) return undefined;
    const [usual] = tries;
    if (usual === undefined) return undefined;
    const { got, want, variant } = usual;
    return {
      kind: 'moments',
      ...answersOf(subject, 'whiten', ['whiten_mean', 'whiten_ddof']),
      sentence: `Over the ${got.count} trained tokens the whitened numbers have mean ${show(got.mean)} and deviation ${show(got.deviation)}; ${describeWhitening(variant)}, they have ${show(want.mean)} and ${show(want.deviation)}.`,
      note: `Tried: ${tries.map((one) => describeWhitening(one.variant)).join('; ')}. ${bandOf(subject).reason}`,
    };
  },
};

const affine: Property<WhitenCase> = {
  ...base,
  id: `${prefix}keeps-differences-in-proportion`,
  title: 'Whitening moves and scales all trained tokens of the batch alike',
  why: 'Whitened row by row, or clipped on the way, a good answer and a bad one look the same.',
  catches: ['ADV-06', 'ADV-13'],
  given: (world) => redrawn(largeWhitenCase({ minTrained: 3, half: isHalf(world) }), hasSpread),
  coverage: { 'several rows': 0.25, gap: 0.15, 'many rows': 0.1 },
  async check(subject, drawn) {
    const args = argsOf(drawn);
    const { values, completion_mask: mask } = args;
    const before = underMask(values, mask);
    const observed = await ask(subject, args);
    const after = underMask(observed, mask);
    const [least, most] = [Math.min(...before), Math.max(...before)];
    if (least === most) return discard('all values are equal');
    const [low = 0, high = 0] = [after[before.indexOf(least)], after[before.indexOf(most)]];
    const band = bandOf(subject, before.length);
    const slack = Math.max(
      band.absolute * magnified(most - least),
      halfSlack(subject, values, mask, observed),
    );
    const expected = values.map((row) =>
      row.map((value) => low + ((value - least) / (most - least)) * (high - low)),
    );
    for (const [row, marks] of mask.entries()) {
      const off = marks.flatMap((on, column) =>
        on === 1 &&
        !band.close(observed[row]?.[column], expected[row]?.[column]) &&
        !(Math.abs((observed[row]?.[column] ?? Number.NaN) - (expected[row]?.[column] ?? 0)) <= slack)
          ? [column]
          : [],
      );
      const [first] = off;
      if (first === undefined) continue;
      return {
        kind: 'proportion',
        sentence: `${show(least)} becomes ${show(low)} and ${show(most)} becomes ${show(high)}, so the ${show(values[row]?.[first])} of token ${first} of row ${row} should become ${show(expected[row]?.[first])}, and is ${show(observed[row]?.[first])}.`,
        strips: [
          stripOf(subject, {
            row,
            ids: marks.map((_, column) => column),
            roles: layGaps<'value'>(drawn).roles[row] ?? [],
            tracks: { mask: marks, values: values[row] ?? [], whitened: observed[row] ?? [] },
            marks: off,
            shown: 'columns',
          }),
        ],
        note: band.reason,
      };
    }
    if (!(high > low) && !(low - high <= slack && roundedTo(subject, after) !== undefined))
      return {
        kind: 'order',
        sentence: `${show(least)} becomes ${show(low)} and ${show(most)} becomes ${show(high)}: the larger number is no longer the larger.`,
      };
    return undefined;
  },
};

const oneToken: Property<WhitenCase> = {
  ...base,
  id: `${prefix}of-one-token-is-finite`,
  title: 'A batch with one trained token is whitened to a number, or refused',
  why: 'One value has no sample deviation: 0/0 of one short batch turns the weights of the model to NaN.',
  level: 'should',
  catches: ['NUM-01'],
  given: () => oneTokenCase(),
  async check(subject, drawn) {
    const args = argsOf(drawn, 1);
    const outcome = await subject.attempt('whiten', args);
    if (!('ok' in outcome)) return discard('a batch with one trained token is refused', 'trainer');
    const [value] = underMask(outcome.ok.values, args.completion_mask);
    return Number.isFinite(value)
      ? undefined
      : { kind: 'not finite', sentence: `The only trained token of the batch is whitened to ${value}.` };
  },
};

/** Part of a batch may have nothing to whiten, and is then refused, or answered with anything. */
const observe = async (subject: Subject, args: Args<'whiten'>): Promise<Observed> => {
  const { deviation, count } = moments(args.values, args.completion_mask, 0);
  if (count < 2) {
    await subject.attempt('whiten', args);
    return { fields: {} };
  }
  const values = await ask(subject, args);
  const half = halfSlack(subject, args.values, args.completion_mask, values);
  return { fields: { values }, slack: { values: bandOf(subject).absolute * magnified(deviation) + half } };
};

const related = {
  op: 'whiten',
  stage: 'advantages',
  prefix,
  noun: 'A whitened number',
  labels: whitenLabels,
  observe,
} as const;

export const whiteningProperties: readonly Property<WhitenCase>[] = underGaps(gapsBehind, [
  ...relations({
    ...related,
    given: () => whitenCase({ minTrained: LEAST_TOKENS }),
    args: (drawn: WhitenCase) => argsOf(drawn),
    coverage: { 'equal values': 0.05, 'unequal completions': 0.2 },
    allBut: ['ranks'],
    relations: {
      'row-order': { catches: ['PAD-08', 'ADV-06'] },
      padding: { catches: ['ADV-06'] },
      'masked-values': { catches: ['ADV-06', 'PAD-09'] },
      'same-twice': { catches: ['ADV-06'] },
      inputs: { catches: ['ADV-06'] },
    },
  }),
  ...relations({
    ...related,
    given: () => whitenCase({ minRows: 2, minTrained: LEAST_TOKENS }),
    args: (drawn: WhitenCase) => argsOf(drawn, LEAST_TOKENS, true),
    coverage: { 'several ranks': 0.2 },
    relations: { ranks: { catches: ['ADV-13'] } },
  }),
  unit,
  affine,
  oneToken,
]);
