// A reference that is the model itself: it has learned what the policy has, so that the margin of every pair is 0 in every step.
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
  scaled,
  show,
  targetsOf,
  weightsOf,
} from '../../../src/index.ts';
import { keyOf } from '../input/kin.ts';
import { isSampled } from '../tokens/trained.ts';
import { fromOf } from '../weights/declared.ts';
import {
  type Aside,
  aside,
  asides,
  type Found,
  givenOf,
  isAside,
  judgementOf,
  placeOf,
  rowStrip,
} from '../words.ts';
import { objectiveOf } from './rows.ts';

export const ownReference: LedgerProperty = {
  id: 'trace/reference-is-not-the-policy',
  title: 'The reference of a preference loss is not the model that is trained',
  stage: 'trace',
  level: 'must',
  why: 'The margin of each pair is then 0 in every step. All pairs weigh the same whatever has been learned, nothing holds the model back, and the loss stays where it was.',
  catches: [],
  needs: (ledger) =>
    stepsOf(ledger).length > 0 ? undefined : 'no rows without a sampler were pushed up and down in one step',
  judge: (ledger) => {
    const steps = stepsOf(ledger);
    const seen = readingsOf(ledger);
    const declared = objectiveOf(ledger).name;
    const said = steps.map((step) => ({ step, said: sayOf(ledger, seen, step) }));
    const good = said.filter(({ said: each }) => each === 'good').length;
    const left = said.flatMap(({ said: each }) => (isAside(each) ? [each.aside] : []));
    const wrong = said.filter(({ said: each }) => each === 'wrong').map(({ step }) => step);
    const [first] = wrong;
    if (first !== undefined && declared === undefined)
      return {
        ...judgementOf(good, [...left, ...asides(wrong.length, 'no preference objective is declared')], []),
        notices: [noticeOf(ledger, first)],
      };
    const blamed = OF_ONE_SLOPE.includes(declared ?? '') ? [] : wrong;
    return judgementOf(
      good + blamed.length,
      [...left, ...asides(wrong.length - blamed.length, `all rows may weigh the same under ${declared}`)],
      blamed.map((step) => foundOf(ledger, step)),
    );
  },
};

/** Their slope is one number as long as they are not satisfied, whatever the reference is; the last has no reference. */
const OF_ONE_SLOPE: readonly string[] = ['hinge', 'simpo'];

/** Rows of one step of which some are pushed up and some down, each by one weight, and nobody sampled any. */
interface Step {
  readonly index: number;
  readonly rows: readonly LedgerRow[];
}

function stepsOf({ rows }: Ledger): readonly Step[] {
  const steps = new Map<number, LedgerRow[]>();
  for (const row of rows) if (row.reached) steps.set(row.step, [...(steps.get(row.step) ?? []), row]);
  return [...steps]
    .map(([index, own]) => ({ index, rows: own }))
    .filter(({ rows: own }) => {
      if (own.length < TWO_PAIRS || own.some(isSampled)) return false;
      const signs = own.map((row) => Math.sign(commonOf(weightsOf(targetsOf(row))) ?? 0));
      return !signs.includes(0) && new Set(signs).size === 2;
    });
}

/** The two answers of one pair weigh the same by any margin. */
const TWO_PAIRS = 4;

function sayOf(ledger: Ledger, seen: Readings, { index, rows }: Step): 'good' | 'wrong' | Aside {
  if (rows.every((row) => seen.byAnother.has(keyOf(realIds(row))))) return 'good';
  // A reference that was copied is the policy still, before a step has moved that.
  const moved = ledger.steps.some(
    (step) => step.index < index && step.ranks.some(({ done }) => done?.changed === true),
  );
  // Another model that scored something may have read these in another form, packed or by itself.
  if (!moved) return aside('no parameter had moved before the step');
  if (seen.byAnother.size > 0) return aside('another model scored rows, and not all of this step');
  if (!rows.every((row) => seen.byItself.has(readingOf(row))))
    return aside('no forward pass without gradients read the rows of the step');
  if (rows.flatMap(sizesOf('token')).some(({ relative }) => relative > TELLING))
    return aside('weights of this precision do not tell a margin of 0 from a small one');
  if (sizeIn(rows) !== undefined) return 'wrong';
  // Rewards without pairs have weights of any size, and say nothing of a reference.
  return objectiveOf(ledger).name === undefined
    ? aside('the rows weigh differently, and no preference objective is declared')
    : 'good';
}

/** Weights that are read off more roughly do not tell margins that are 0 from small ones. */
const TELLING = 1e-3;

/** A margin of sums has one slope per token, a margin of means one per row. */
const sizesOf =
  (per: 'token' | 'row') =>
  (row: LedgerRow): Rough[] => {
    const targets = targetsOf(row);
    return weightsOf(targets).map((weight) =>
      scaled({ ...weight, value: Math.abs(weight.value) }, per === 'row' ? targets.length : 1),
    );
  };

/** What all of them weigh, in words. */
function sizeIn(rows: readonly LedgerRow[]): string | undefined {
  for (const per of ['token', 'row'] as const) {
    const common = commonOf(rows.flatMap(sizesOf(per)));
    if (common !== undefined) return `${show(common)} a ${per}`;
  }
  return undefined;
}

interface Readings {
  /** Ids that another model scored, in any step: scores may be made ahead. */
  readonly byAnother: ReadonlySet<string>;
  /** What the trained model read in a forward pass of which no gradient came, by step. */
  readonly byItself: ReadonlySet<string>;
}

const readingsOf = ({ scored, rows }: Ledger): Readings => ({
  byAnother: new Set(scored.filter(({ by }) => by === 'reference').map((row) => keyOf(realIds(row)))),
  byItself: new Set(
    [...scored.filter(({ by }) => by === 'policy'), ...rows.filter(({ reached }) => !reached)].map(readingOf),
  ),
});

const readingOf = (row: RowIds): string => `${row.step} ${row.model}: ${keyOf(realIds(row))}`;

const sentenceOf = (ledger: Ledger, step: Step): string =>
  `Each of the ${many(step.rows.length, 'row')} of step ${step.index} weighs ${sizeIn(step.rows)}, up or down, as where the margin of every pair is 0; and what scored them without a gradient is the trained model itself (the first: ${placeOf(ledger, step.rows[0] as LedgerRow)}). No other model was seen to score anything.`;

const REMEDY =
  'A reference is a copy from before the first step (`copy.deepcopy(model)`, frozen), or the model with its adapters off; `reference = model` is the model.';

function foundOf(ledger: Ledger, step: Step): Found {
  const [row] = step.rows as readonly [LedgerRow];
  return {
    harm: step.rows.length,
    tell: () => ({
      kind: 'reference',
      sentence: sentenceOf(ledger, step),
      strips: [
        rowStrip(
          ledger,
          row,
          targetsOf(row).map(({ column }) => column),
        ),
      ],
      note: `${REMEDY} Declared by ${fromOf(ledger.settings)}.`,
      given: { step: step.index, ...givenOf(row) },
    }),
  };
}

const noticeOf = (ledger: Ledger, step: Step): LedgerNotice => ({
  sentence: `${sentenceOf(ledger, step)} ${REMEDY}`,
  answers: ['"preference_objective": "hinge"'],
});
