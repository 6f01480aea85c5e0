// The loss on pairs of a better and a worse completion is the declared objective of their log-probabilities.
import {
  type Args,
  answersOf,
  type Band,
  bandOf,
  type DType,
  describePreference,
  isHalf,
  itemsOf,
  many,
  marginOf,
  numberFinding,
  type Ok,
  type PairNumbers,
  type Pairs,
  type PreferenceSettings,
  type Property,
  pairLabels,
  pairNumbers,
  preferenceLoss,
  preferenceVariants,
  type Subject,
  show,
  type World,
} from '../../../src/index.ts';

export const base = {
  stage: 'preference_loss',
  level: 'must',
  ops: ['preference_loss'],
  labels: pairLabels,
} as const;
export const coverage = { 'several rows': 0.25, 'halves of unequal length': 0.25 };

export function argsOf({ rows }: Pairs): Args<'preference_loss'> {
  return {
    chosen_logprobs: rows.map(({ chosen }) => chosen.map(({ logprob }) => logprob)),
    rejected_logprobs: rows.map(({ rejected }) => rejected.map(({ logprob }) => logprob)),
    ref_chosen_logprobs: rows.map(({ chosen }) => chosen.map(({ ref }) => ref)),
    ref_rejected_logprobs: rows.map(({ rejected }) => rejected.map(({ ref }) => ref)),
  };
}

export const numbersOf = ({ rows }: Pairs): PairNumbers[] =>
  rows.map(({ chosen, rejected }) => ({
    chosen: chosen.map(({ logprob }) => logprob),
    rejected: rejected.map(({ logprob }) => logprob),
    refChosen: chosen.map(({ ref }) => ref),
    refRejected: rejected.map(({ ref }) => ref),
  }));

export const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Why the objective of this trainer cannot be computed; undefined where it can. */
export const fullyDeclared = ({ semantics }: World): string | undefined => {
  if (preferenceVariants(semantics).length > 0) return undefined;
  const { preference_objective: objective, preference_beta: beta } = semantics;
  if (objective === undefined)
    return 'semantics.preference_objective is not declared, and objectives are many';
  return beta === undefined
    ? 'semantics.preference_beta is not declared, and it may be any number'
    : 'semantics.preference_gamma is not declared, and it may be any number';
};

/** A rounding of these formats; the bands of the others leave room for it. */
const ROUNDING: { readonly [K in DType]?: number } = { bfloat16: 2 ** -8, float16: 2 ** -11 };

/** How far off a margin may be: it is a small difference of large sums, each rounded at its own size. */
export function blur({ hello }: World, pair: PairNumbers): number {
  const all = [...pair.chosen, ...pair.rejected, ...pair.refChosen, ...pair.refRejected];
  return (ROUNDING[hello.dtype ?? 'float32'] ?? 0) * all.reduce((sum, value) => sum + Math.abs(value), 0);
}

/** The losses of a pair whose margin is as it is, and off to either side. */
function losses(world: World, pair: PairNumbers, settings: PreferenceSettings): number[] {
  const off = blur(world, pair);
  const [first = 0, ...rest] = pair.chosen;
  return (off === 0 ? [0] : [0, off, -off]).map((by) =>
    preferenceLoss({ ...pair, chosen: [first + by, ...rest] }, settings),
  );
}

/** Within the band of what lies between the least and the most of these. */
const within = (band: Band, observed: number | undefined, values: readonly number[]): boolean =>
  values.some((value) => band.close(observed, value)) ||
  (observed !== undefined && observed >= Math.min(...values) && observed <= Math.max(...values));

/** Numbers that do not fit. */
export type Wrong = readonly {
  readonly where: string;
  readonly row: number | undefined;
  readonly expected: number;
  readonly observed: number;
}[];

interface Misfit {
  readonly settings: PreferenceSettings;
  readonly wrong: Wrong;
}

/** `loss` is a mean over pairs or their sum; `losses` are held to where they are answered. */
function misfit(
  subject: Subject,
  answer: Ok<'preference_loss'>,
  pairs: readonly PairNumbers[],
  settings: PreferenceSettings,
): Misfit {
  const each = pairs.map((pair) => losses(subject, pair, settings));
  const band = bandOf(subject, pairs.length);
  const wrong = (answer.losses ?? []).flatMap((observed, row) => {
    const values = each[row] ?? [];
    const [want = Number.NaN] = values;
    return within(band, observed, values) ? [] : [{ where: `row ${row}`, row, expected: want, observed }];
  });
  const average = mean(each.map(([want = Number.NaN]) => want));
  // The least that the mean may be, and the most.
  const ends = [
    average,
    mean(each.map((values) => Math.min(...values))),
    mean(each.map((values) => Math.max(...values))),
  ];
  const fits = [1, pairs.length].some((count) =>
    within(
      band,
      answer.loss,
      ends.map((end) => count * end),
    ),
  );
  const batch = { where: 'loss', row: undefined, expected: average, observed: answer.loss };
  return { settings, wrong: [...wrong, ...(fits ? [] : [batch])] };
}

/** Objectives that trainers compute instead by mistake, to name the one that fits. */
function mistakes(settings: PreferenceSettings): { name: string; settings: PreferenceSettings }[] {
  const { length, objective } = settings;
  return [
    {
      name:
        length === 'sum' ? 'means over the tokens instead of sums' : 'sums over the tokens instead of means',
      settings: { ...settings, length: length === 'sum' ? 'mean' : 'sum' },
    },
    {
      name: 'chosen and rejected swapped',
      settings: { ...settings, beta: -settings.beta, gamma: -settings.gamma },
    },
    ...(objective === 'simpo'
      ? [
          {
            name: 'gamma divided by beta twice',
            settings: { ...settings, gamma: settings.gamma / settings.beta },
          },
        ]
      : []),
    ...(['dpo', 'ipo', 'hinge'] as const)
      .filter((name) => name !== objective)
      .map((name) => ({ name: `the objective ${name}`, settings: { ...settings, objective: name } })),
  ];
}

const PREFERENCE_ITEMS = itemsOf('preference_loss');

const equals: Property<Pairs> = {
  ...base,
  id: 'preference_loss/equals-the-objective',
  title:
    'The loss of each pair is the declared objective of its log-probabilities, and the batch their mean or sum',
  why: 'An objective that falls back to another, or counts length where it should not, trains a preference for short or for long answers.',
  catches: ['LOSS-13', 'NUM-05'],
  settles: PREFERENCE_ITEMS,
  needs: [fullyDeclared],
  given: (world) => pairNumbers({ long: !isHalf(world) }),
  coverage,
  async check(subject, drawn) {
    const pairs = numbersOf(drawn);
    const answer = await subject.ask('preference_loss', argsOf(drawn));
    const variants = preferenceVariants(subject.semantics);
    const misfits = variants.map((settings) => misfit(subject, answer, pairs, settings));
    const closest = misfits.toSorted((a, b) => a.wrong.length - b.wrong.length)[0];
    const [first] = closest?.wrong ?? [];
    if (closest === undefined || first === undefined) return undefined;
    const mistake = mistakes(closest.settings).find(
      (each) => misfit(subject, answer, pairs, each.settings).wrong.length === 0,
    );
    const pair = first.row === undefined ? undefined : pairs[first.row];
    const lengths =
      pair === undefined
        ? ''
        : ` (${many(pair.chosen.length, 'chosen token')}, ${pair.rejected.length} rejected, margin ${show(marginOf(pair, closest.settings))})`;
    const what =
      first.row === undefined ? `the batch of ${many(pairs.length, 'pair')}` : `pair ${first.row}${lengths}`;
    return numberFinding({
      kind: mistake?.name ?? 'value',
      sentence: `The loss of ${what} is ${show(first.observed)}; ${describePreference(closest.settings)} gives ${show(first.expected)}.${mistake === undefined ? '' : ` It equals what comes of ${mistake.name}.`}`,
      band: bandOf(subject, pairs.length),
      pairs: closest.wrong,
      ...(mistake === undefined ? answersOf(subject, 'preference_loss', PREFERENCE_ITEMS) : {}),
      note:
        variants.length > 1
          ? `None of the ${variants.length} variants that the declared semantics allow fits; this one is closest.`
          : 'This is what the trainer declares.',
    });
  },
};

export const preferenceLossProperties: readonly Property<Pairs>[] = [equals];
