// The sum of the weights of a whole optimiser step: 1 in a mean over its tokens or over its rows, over all micro-batches
// and ranks, whichever of them has a denominator of its own.
import { type Ledger, type LedgerNotice, many, show } from '../../../src/index.ts';
import { NOTHING, type Part } from '../judged-part.ts';
import { eventsOf, numberIn } from '../steps/made.ts';
import { asides, type Found } from '../words.ts';
import { type Cause, causeOf, causesOf, type Taught, taughtStep, UNKNOWN_STEP } from './counts.ts';
import { type DeclaredAggregation, supervisedAggregation } from './declared.ts';

/** What rounding leaves of a sum, in float32; and in the others, whose weights are good to a twentieth. */
const EXACT = 0.005;
const ROUGH = 0.05;

/** Steps whose sums are not 1, and what is said where they may be meant. */
export interface Sums extends Part {
  readonly notices: readonly LedgerNotice[];
}

/** Why weights that are not those declared are not blamed. */
export const OWN_LOSS = 'a trainer of this class may be given a loss of its own';

interface Off {
  readonly step: Taught;
  readonly cause: Cause | undefined;
}

export function ofSteps(ledger: Ledger): Sums {
  const declared = supervisedAggregation(ledger.settings);
  const own = ledger.settings.semantics.own_formulas?.includes('sft_loss') === true;
  if (declared === undefined || own) return { ...NOTHING, notices: [] };
  const steps = ledger.steps.map((step) => taughtStep(ledger, step));
  const known = steps.filter((step): step is Taught => step !== undefined && !isMixed(step));
  const most = Math.max(1, ...known.map(({ accumulated }) => accumulated));
  const causeIn = (step: Taught): Cause | undefined => {
    const causes = causesOf(step, most).filter(({ meant }) => declared.explicit || meant !== true);
    return causeOf(step.sum, causes, roomOf(step));
  };
  const off = known.filter((step) => !isOne(step, declared));
  const plain = off.map((step): Off => ({ step, cause: causeIn(step) }));
  // Divided behind the backward passes, by hand: by the tokens, by other counts, or by a norm, of which a sum of weights says nothing.
  const divided = off.map((step): Off | undefined => {
    const behind = dividedByHand(ledger, step);
    return behind && { step: behind, cause: causeIn(behind) };
  });
  const areRight = divided.map((each) => each !== undefined && isOne(each.step, declared));
  const alike =
    new Set(divided.map((each) => each?.cause?.name)).size === 1 &&
    divided.every((each) => each?.cause !== undefined && roomOf(each.step) === EXACT);
  const each = (alike ? divided : plain).filter(
    (one, at): one is Off => one !== undefined && areRight[at] !== true,
  );
  const chance = byChance(each, known);
  const judged = chance ? each.map(({ step }): Off => ({ step, cause: undefined })) : each;
  const told = judged.filter(({ cause }) => cause !== undefined);
  const unknown = judged.filter(({ cause }) => cause === undefined);
  const meant = unknown.length > 0 && mayBeScaled(unknown, known);
  // What a trainer's class declares holds as long as nobody hands it a loss of their own, with factors of its own.
  const set = meant || !declared.explicit;
  const found = [...told, ...(set ? [] : unknown)].map((each) => foundOf(each, declared));
  return {
    judged: known.length - (set ? unknown.length : 0),
    aside: [
      ...steps.flatMap((step) =>
        step === undefined ? [UNKNOWN_STEP] : isMixed(step) ? ['a teacher has a part in its loss'] : [],
      ),
      ...asides(set ? unknown.length : 0, meant ? 'the loss may have a coefficient' : OWN_LOSS),
    ],
    found,
    notices:
      meant && declared.explicit
        ? [scaledNotice(unknown, declared, chance ? each[0]?.cause : undefined)]
        : [],
  };
}

/** Beside a teacher's term: what the two are multiplied by is the user's choice, and may be a quotient of counts by chance. */
const isMixed = ({ batches }: Taught): boolean =>
  batches.some(({ rows }) => rows.some(({ terms }) => terms?.some(({ kind }) => kind === 'teacher')));

/** The step with what one process multiplied all of its gradients by before it stepped. */
function dividedByHand(ledger: Ledger, step: Taught): Taught | undefined {
  const [event] = eventsOf(ledger, 'reworked', step.step);
  const by = event === undefined ? undefined : numberIn(event, 'by');
  return by === undefined || step.world > 1 ? undefined : { ...step, sum: step.sum * by };
}

const roomOf = ({ dtype }: Taught): number => (dtype === 'float32' || dtype === 'float64' ? EXACT : ROUGH);

/** 1, or a little less: the first token of a text is counted by some, and has no predictor. */
function isOne(step: Taught, { aggregation, local }: DeclaredAggregation): boolean {
  const room = roomOf(step);
  const { tokens, firsts, taughtRows, rows, sum } = step;
  // Means over rows, and means of micro-batches, may count those that have nothing to train.
  const empty = aggregation === 'token-mean' && !local ? 1 : taughtRows / rows;
  return sum <= 1 + room && sum >= (Math.min(1, empty) * (1 - room) * tokens) / (tokens + firsts);
}

/**
 * Every step has the one same sum, and it is a quotient of counts in some of them only; or the counts are the same in all of
 * them, and the sum is a number that people write: then nothing tells a coefficient from a quotient.
 */
const byChance = (off: readonly Off[], known: readonly Taught[]): boolean =>
  mayBeScaled(off, known) &&
  (new Set(off.map(({ cause }) => cause?.name)).size > 1 || (areAlike(known) && off.every(isWritten)));

const areAlike = (known: readonly Taught[]): boolean =>
  known.length > 1 &&
  new Set(known.map(({ tokens, columns, rows, firsts }) => [tokens, columns, rows, firsts].join(' ')))
    .size === 1;

/** 0.5, 0.3, 0.04: below 1, in two digits at most; and not what accumulation makes of a mean. */
const isWritten = ({ step: { sum }, cause }: Off): boolean =>
  sum < 1 &&
  cause?.name.startsWith('micro-batches') === false &&
  Math.abs(sum - Number(sum.toPrecision(2))) <= WRITTEN * sum;
const WRITTEN = 1e-5;

/** Every step has the one same factor that no count explains: the loss may be multiplied by a coefficient. */
function mayBeScaled(unknown: readonly Off[], known: readonly Taught[]): boolean {
  const sums = unknown.map(({ step }) => step.sum);
  const [first] = unknown;
  if (first === undefined || unknown.length < known.length) return false;
  return Math.max(...sums) <= Math.min(...sums) * (1 + roomOf(first.step));
}

/** `other`: a quotient of counts that is the same number. */
function scaledNotice(
  unknown: readonly Off[],
  declared: DeclaredAggregation,
  other: Cause | undefined,
): LedgerNotice {
  const sum = show(unknown[0]?.step.sum);
  return {
    sentence: `The weights of ${unknown.length === 1 ? `step ${unknown[0]?.step.step}` : `each of ${unknown.length} steps`} add up to ${sum} and not to 1, as those of a ${declared.aggregation} do: a coefficient of ${sum} in front of the loss does this, and ${other === undefined ? 'no count of tokens, columns, rows or micro-batches' : `so does another count, of which nothing here tells it: ${other.words}`}.`,
    answers: ['"own_formulas": ["sft_loss"]'],
  };
}

function foundOf({ step, cause }: Off, declared: DeclaredAggregation): Found {
  const { sum, tokens } = step;
  const why =
    cause === undefined ? 'no count of tokens, columns, rows or micro-batches explains it' : cause.words;
  return {
    harm: Math.abs(Math.log(sum)),
    tell: () => ({
      kind: 'sum',
      sentence: `The weights of the ${many(tokens, 'trained token')} of step ${step.step} add up to ${show(sum)} instead of 1: ${why}.`,
      numbers: [
        { where: `sum of weights of step ${step.step}`, expected: 1, observed: sum, allowed: roomOf(step) },
      ],
      note: `${declared.from} declares a ${declared.aggregation}, whose weights add up to 1 over an optimiser step. A coefficient that is meant is declared with "own_formulas": ["sft_loss"].`,
      given: {
        step: step.step,
        trained_tokens: tokens,
        rows: step.rows,
        padded_columns: step.columns,
        micro_batches: step.batches.map(({ rank, forward, count, weights }) => ({
          rank,
          forward,
          tokens: count,
          weight: weights[0]?.value,
        })),
      },
    }),
  };
}
