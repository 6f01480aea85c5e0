// Which tokens a policy loss is a mean over: those of the whole step, or of each micro-batch apart. Nobody knows the rewards;
// but the advantages of a group add up to 0, and scaled or binary ones have the same size in every group.
import { type Ledger, type LedgerNotice, type LedgerRow, many, show, targetsOf } from '../../../src/index.ts';
import { isCentred, LOCAL_MEAN, STEP_MEAN, WAYS, type Way, withFactor } from './balance.ts';
import { perTokenTerm } from './declared.ts';
import { type Group, groupsOf, tokensOf } from './groups.ts';

/** Groups of which each micro-batch's own mean explains the weights, and no other known way does. */
export interface LocalMeans {
  readonly groups: readonly Group[];
  readonly first: Group;
}

/** Of two groups one may fit by chance. */
const LEAST_GROUPS = 3;
/** Groups whose completions lie in several micro-batches say so by their sum, each by itself. */
const LEAST_PARTED = 2;
/** Sizes this near are one size: weights are good to half of this. */
const EVEN = 0.01;

export function localMeans(ledger: Ledger): LocalMeans | undefined {
  if (perTokenTerm(ledger.settings) !== undefined) return undefined;
  const live = groupsOf(ledger).groups.filter(({ members }) => members.some(({ weight }) => weight !== 0));
  const parted = live.filter(isParted);
  const [first] = parted.length > 0 ? parted : live;
  if (first === undefined || !severalBatches(ledger, first.step)) return undefined;
  const local =
    parted.length > 0
      ? parted.length >= LEAST_PARTED && fitsOnly((way) => parted.every((group) => isCentred(group, way)))
      : live.length >= LEAST_GROUPS &&
        live.every(isOpposed) &&
        fitsOnly((way) => SIZES.some((sizeOf) => isEven(ledger, live, way, sizeOf)));
  return local ? { groups: live, first } : undefined;
}

const fitsOnly = (fits: (way: Way) => boolean): boolean =>
  fits(LOCAL_MEAN) && !WAYS.some((way) => way !== LOCAL_MEAN && fits(way));

/** Its completions were trained in micro-batches of unequal tokens. */
export const isParted = ({ members }: Group): boolean =>
  new Set(members.map(({ batchTokens }) => batchTokens)).size > 1;

/**
 * Of advantages whose size is known, 1 or that of n - 1 where they are divided by their deviation, and 1 of rewards that are one
 * of two: a mean over the step that is divided by its micro-batches as well.
 */
export function dividedNotice(ledger: Ledger): LedgerNotice | undefined {
  if (perTokenTerm(ledger.settings) !== undefined || ledger.steps.some(({ ranks }) => ranks.length > 1))
    return undefined;
  const live = groupsOf(ledger).groups.filter(({ members }) => members.some(({ weight }) => weight !== 0));
  if (live.length < LEAST_GROUPS || !live.every(isOpposed)) return undefined;
  const parts = new Set(live.map(({ step }) => batchesIn(ledger, step)));
  const [count = 0] = parts;
  if (parts.size > 1 || count < 2) return undefined;
  const isOf = (factor: number): boolean =>
    KNOWN_SIZES.some(({ sizeOf, known }) =>
      live.every((group) => {
        const size = sizeOf(withFactor(group, STEP_MEAN)) * tokensIn(ledger.rows, group.step);
        return known(group.members.length).some((due) => Math.abs((size * factor) / due - 1) <= EVEN);
      }),
    );
  if (isOf(1) || !isOf(count)) return undefined;
  return {
    sentence: `The weights of ${many(live.length, 'group')} of completions are those of a mean over the tokens of the step, divided by its ${count} micro-batches once more: the gradient is 1/${count} of that of the mean.`,
    answers: [],
    asked: true,
  };
}

const batchesIn = ({ rows }: Ledger, step: number): number =>
  new Set(rows.flatMap((row) => (row.step === step && row.reached ? [row.forward] : []))).size;

/** Advantages less a baseline point both ways. */
const isOpposed = ({ members }: Group): boolean =>
  members.some(({ weight }) => weight > 0) && members.some(({ weight }) => weight < 0);

const severalBatches = ({ rows }: Ledger, step: number): boolean =>
  new Set(rows.filter((row) => row.step === step).map(({ rank, forward }) => `${rank} ${forward}`)).size > 1;

/** Of advantages divided by their deviation, and of those of rewards that are one of two. */
const SIZES: readonly ((advantages: readonly number[]) => number)[] = [
  (all) => Math.sqrt(all.reduce((sum, each) => sum + each * each, 0) / all.length),
  (all) => Math.max(...all) - Math.min(...all),
];

const [DEVIATION, RANGE] = SIZES as readonly [(typeof SIZES)[number], (typeof SIZES)[number]];
const KNOWN_SIZES = [
  { sizeOf: DEVIATION, known: (count: number): number[] => [1, Math.sqrt((count - 1) / count)] },
  { sizeOf: RANGE, known: (): number[] => [1] },
];

/** Read in this way, the advantages of every group are of one size. */
function isEven(ledger: Ledger, groups: readonly Group[], way: Way, sizeOf: (typeof SIZES)[number]): boolean {
  const sizes = groups.map((group) => {
    const whole = way === STEP_MEAN ? tokensIn(ledger.rows, group.step) : 1;
    return sizeOf(withFactor(group, way)) * whole;
  });
  return Math.max(...sizes) <= Math.min(...sizes) * (1 + EVEN);
}

const tokensIn = (rows: readonly LedgerRow[], step: number): number =>
  rows.filter((row) => row.step === step).reduce((sum, row) => sum + tokensOf(row), 0);

/** What is asked where nobody says how token losses become one number. */
export function localNotice(ledger: Ledger, { groups, first }: LocalMeans): LedgerNotice {
  return {
    sentence: `${sentenceOf(ledger, { groups, first })} A completion weighs more in a short micro-batch, and the gradient depends on how rows are split.`,
    answers: ['"loss_normalization": "local"', '"loss_aggregation": "token-mean"'],
    asked: true,
  };
}

/** "The weights of 16 completions are those of ...". */
export function sentenceOf({ rows }: Ledger, { groups, first }: LocalMeans): string {
  const completions = groups.reduce((sum, { members }) => sum + members.length, 0);
  const batches = new Map<number, number>();
  for (const row of rows)
    if (row.step === first.step && targetsOf(row).length > 0)
      batches.set(row.forward, (batches.get(row.forward) ?? 0) + tokensOf(row));
  const counts = [...batches.values()].map(show).join(', ');
  return `The weights of ${many(completions, 'completion')} fit a mean over the tokens of each micro-batch (${counts} tokens in step ${first.step}), and no mean over the step.`;
}
