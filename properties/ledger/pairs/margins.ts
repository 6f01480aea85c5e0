// The margin that a preference pair is trained by, read off the weights of several pairs: with a sigmoid each weighs
// σ(-β·margin), and the margin is what the policy prefers beyond what the reference does.
import {
  commonOf,
  type Ledger,
  type LedgerNotice,
  type LedgerProperty,
  type LedgerRow,
  many,
  type Rough,
  type RowIds,
  realIds,
  type ScoredRow,
  scaled,
  show,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { keyOf } from '../input/kin.ts';
import { isSampled } from '../tokens/trained.ts';
import { fromOf } from '../weights/declared.ts';
import { aside, asides, type Found, givenOf, judgementOf, placeOf, rowStrip } from '../words.ts';
import { objectiveOf } from './rows.ts';

export const pairMargins: LedgerProperty = {
  id: 'trace/margins-are-against-the-reference',
  title: 'Pairs weigh by how much more the policy prefers the chosen answer than the reference does',
  stage: 'trace',
  level: 'must',
  why: 'Where the answers of the reference are swapped, left out, or those of another pair, each pair is pushed as long as a margin is small that is not its own. Loss and signs look as they should.',
  catches: [],
  needs: ({ scored }) => {
    const models = new Set(scored.flatMap(({ by, model }) => (by === 'reference' ? [model] : [])));
    if (models.size === 1) return undefined;
    return models.size === 0
      ? 'no forward pass of a reference was seen: there is none, or its scores were made before'
      : 'several models scored rows, and which of them is the reference is not known';
  },
  judge: (ledger) => {
    const declared = objectiveOf(ledger).name;
    // The slope of the others is no sigmoid of the margin.
    if (declared !== undefined && declared !== 'dpo')
      return judgementOf(0, [aside(`the slope of ${declared} is another function of the margin`).aside], []);
    const pairs = pairsIn(ledger);
    const way = wayOf(pairs);
    if (way === undefined)
      return judgementOf(0, asides(pairs.length, 'no margin that is known explains the weights'), []);
    if (way.says === undefined) return judgementOf(pairs.length, [], []);
    return declared === undefined
      ? {
          ...judgementOf(0, asides(pairs.length, 'no preference objective is declared'), []),
          notices: [noticeOf(ledger, pairs, way)],
        }
      : judgementOf(pairs.length, [], [foundOf(ledger, pairs, way)]);
  },
};

/** Two answers that weigh the same per token, one up and one down, in one step, and what both models score them. */
interface Pair {
  readonly step: number;
  readonly chosen: LedgerRow;
  readonly weight: number;
  readonly relative: number;
  /** Log-probability of the chosen answer less that of the rejected one. */
  readonly policy: number;
  readonly reference: number;
  /** The same of means over tokens. */
  readonly referenceMean: number;
}

/** Rows are paired by their weights: those of a pair are one number. Where several pairs weigh the same, none is told apart. */
function pairsIn(ledger: Ledger): readonly Pair[] {
  const references = new Map<string, ScoredRow>();
  for (const row of ledger.scored.filter(({ by }) => by === 'reference')) {
    // A reference may follow the policy from step to step, or have scored all rows before the first one.
    references.set(`${row.step}: ${keyOf(realIds(row))}`, row);
    references.set(keyOf(realIds(row)), row);
  }
  const steps = new Map<number, Weighed[]>();
  for (const row of ledger.rows) {
    const weighed = row.reached && !isSampled(row) ? weighedOf(row, references) : undefined;
    if (weighed !== undefined) steps.set(row.step, [...(steps.get(row.step) ?? []), weighed]);
  }
  return [...steps].flatMap(([step, rows]) =>
    rows.flatMap((chosen): Pair[] => {
      const alike = rows.filter(({ weight }) => isAlike(chosen.weight, weight));
      const rejected = alike.find(({ weight }) => weight.value < 0);
      if (chosen.weight.value < 0 || alike.length !== 2 || rejected === undefined) return [];
      return [
        {
          step,
          chosen: chosen.row,
          weight: chosen.weight.value,
          relative: Math.max(chosen.weight.relative, rejected.weight.relative),
          policy: chosen.policy - rejected.policy,
          reference: chosen.reference - rejected.reference,
          referenceMean: chosen.reference / chosen.tokens - rejected.reference / rejected.tokens,
        },
      ];
    }),
  );
}

interface Weighed {
  readonly row: LedgerRow;
  readonly tokens: number;
  readonly weight: Rough;
  readonly policy: number;
  readonly reference: number;
}

/** A row whose tokens have one weight, and that both models have scored at each of them. */
function weighedOf(row: LedgerRow, references: ReadonlyMap<string, ScoredRow>): Weighed | undefined {
  const key = keyOf(realIds(row));
  const other = references.get(`${row.step}: ${key}`) ?? references.get(key);
  const targets = targetsOf(row);
  const weights = weightsOf(targets);
  const value = weights.length < targets.length ? undefined : commonOf(weights);
  if (other === undefined || value === undefined) return undefined;
  const shift = other.real.indexOf(true) - row.real.indexOf(true);
  const sumOf = (of: RowIds, by: number): number =>
    targets.reduce((sum, { column }) => sum + (of.logprobs?.[column + by] ?? Number.NaN), 0);
  const [policy, reference] = [sumOf(row, 0), sumOf(other, shift)];
  if (!Number.isFinite(policy) || !Number.isFinite(reference)) return undefined;
  const relative = Math.max(...weights.map((each) => each.relative));
  return { row, tokens: targets.length, weight: { value, relative }, policy, reference };
}

const isAlike = (left: Rough, right: Rough): boolean =>
  commonOf([left, right].map((each) => scaled(each, Math.sign(each.value)))) !== undefined;

/** What a loss may take for the margin; the first is the right one. */
interface Way {
  /** Of the pair at an index of its step. */
  readonly margin: (pair: Pair, at: number, step: readonly Pair[]) => number;
  /** What it does. Absent: what it should. */
  readonly says?: string;
  /** Other objectives do it on purpose, and may have a reference for their logs. */
  readonly meant?: true;
}

const WAYS: readonly Way[] = [
  { margin: ({ policy, reference }) => policy - reference },
  {
    margin: ({ policy, reference }) => policy + reference,
    says: "the reference's chosen and rejected answers are swapped",
  },
  ...[1, -1].map((by) => ({
    margin: ({ policy }: Pair, at: number, step: readonly Pair[]) =>
      policy - (step.at((at + by) % step.length)?.reference ?? Number.NaN),
    says: 'the reference scores are those of another pair of the step',
  })),
  {
    margin: ({ policy, referenceMean }) => policy - referenceMean,
    says: "the reference's scores are means over tokens, and the policy's are sums",
  },
  { margin: ({ policy }) => policy, says: 'the reference is left out', meant: true },
];

/** The way that the weights follow; of too few pairs, or of weights that hardly differ, any is one. */
function wayOf(pairs: readonly Pair[]): Way | undefined {
  const steps = [...new Set(pairs.map(({ step }) => step))].map((step) =>
    pairs.filter((pair) => pair.step === step),
  );
  const isTelling =
    pairs.length - steps.length >= RATIOS &&
    pairs.every(({ relative }) => relative <= TELLING) &&
    steps.some((own) => spreadOf(own.map(({ weight }) => Math.log(weight))) > CLEARLY);
  if (!isTelling) return undefined;
  const leftBy = ({ margin }: Way): number => {
    const margins = steps.map((own) => own.map(margin));
    return Math.min(
      ...BETAS.map((beta) => descended(Math.log(beta), (log) => misfitOf(steps, margins, Math.exp(log)))),
    );
  };
  const [right, ...others] = WAYS as readonly [Way, ...Way[]];
  const left = leftBy(right);
  if (left < FITS) return right;
  // Another objective may follow the right margin nearly.
  if (left < CLEARLY) return undefined;
  return others.find((way) => leftBy(way) < FITS);
}

const spreadOf = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);

/** Ratios of weights within a step: the coefficient takes one of them, the others are a proof. */
const RATIOS = 3;
/** Weights that are read off more roughly fit several margins. */
const TELLING = 2e-3;
/** Of a weight, beside what its reading may be off. */
const FITS = 2e-3;
/** So far apart that no rounding does it: weights of a step that tell margins, and what misses a margin. */
const CLEARLY = 10 * FITS;
/** Coefficients from which the best one is looked for. */
const BETAS = [0.003, 0.01, 0.03, 0.1, 0.3, 1, 3];

/** How far the weights of a step are from one factor times the sigmoid of -beta times the margins: the most, relative. */
function misfitOf(
  steps: readonly (readonly Pair[])[],
  margins: readonly (readonly number[])[],
  beta: number,
) {
  return Math.max(
    ...steps.map((pairs, step) => {
      const factors = pairs.map(({ weight }, at) =>
        Math.log(weight * (1 + Math.exp(beta * (margins[step]?.[at] ?? Number.NaN)))),
      );
      return spreadOf(factors) / 2;
    }),
  );
}

/** The least value that a search by halves finds around a start. */
function descended(start: number, valueAt: (x: number) => number): number {
  let [x, least, width] = [start, valueAt(start), 0.6];
  for (let turn = 0; turn < TURNS; turn++) {
    const next = [x - width, x + width].map((at) => ({ at, value: valueAt(at) }));
    const better = next.find(({ value }) => value < least);
    if (better === undefined) width /= 2;
    else [x, least] = [better.at, better.value];
  }
  return least;
}
const TURNS = 40;

const sentenceOf = (ledger: Ledger, pairs: readonly Pair[], { says }: Way): string => {
  const [first] = pairs as readonly [Pair];
  return `The weights of ${many(pairs.length, 'preference pair')} (from ${placeOf(ledger, first.chosen)}) follow another margin than the policy's less the reference's: ${says}. The first weighs ${show(first.weight)}, and its chosen answer is ahead by ${show(first.policy)} nats in the policy and ${show(first.reference)} in the reference.`;
};

function foundOf(ledger: Ledger, pairs: readonly Pair[], way: Way): Found {
  const [{ chosen }] = pairs as readonly [Pair];
  return {
    harm: pairs.length,
    tell: () => ({
      kind: 'margin',
      sentence: sentenceOf(ledger, pairs, way),
      strips: [
        rowStrip(
          ledger,
          chosen,
          targetsOf(chosen).map(({ column }) => column),
        ),
      ],
      note: `${REMEDY} Declared by ${fromOf(ledger.settings)}.`,
      given: givenOf(chosen),
    }),
  };
}

const REMEDY =
  'The margin is (chosen - rejected) of the policy less (chosen - rejected) of the reference, each a sum over the answer. Split and order the rows of both models alike.';

const noticeOf = (ledger: Ledger, pairs: readonly Pair[], way: Way): LedgerNotice => ({
  sentence: `${sentenceOf(ledger, pairs, way)} ${REMEDY}`,
  answers: way.meant === true ? ['"preference_objective": "dpo"', '"own_formulas": ["preference_loss"]'] : [],
  ...(way.meant === true ? {} : { asked: true }),
});
