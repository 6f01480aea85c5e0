// The specification of a traced script: every property of a ledger, in the order of the stages.
import {
  type Ledger,
  type LedgerProperty,
  STAGES,
  scoresOnly,
  targetsOf,
  weightsOf,
} from '../../src/index.ts';
import { consumedRows } from './input/consumed.ts';
import { heldOut } from './input/held-out.ts';
import { inputProperties } from './input/input.ts';
import { otherOrders } from './input/orders.ts';
import { isPushedDown } from './input/policy.ts';
import { pairMargins } from './pairs/margins.ts';
import { pairSizes } from './pairs/opposite.ts';
import { ownReference } from './pairs/own-reference.ts';
import { pairSigns } from './pairs/signs.ts';
import { rankProperties } from './ranks/ranks.ts';
import { stepProperties } from './steps/steps.ts';
import { answerProperties } from './tokens/answers.ts';
import { knownToTheTokenizer } from './tokens/beyond.ts';
import { leftOutById } from './tokens/left-out.ts';
import { declaredLength } from './tokens/limits.ts';
import { neverProperties } from './tokens/never.ts';
import { renderedAlike } from './tokens/rendered.ts';
import { sampledProperties } from './tokens/sampled.ts';
import { targetProperties } from './tokens/targets.ts';
import { weightProperties } from './weights/weights.ts';

const PREDICTS_NOTHING = 'what is trained predicts no token';
/** Micro-batches share a step by the weights of their tokens. */
const OF_WEIGHTS = 'update/micro-batches-share-a-step';
const WHOLE_STEPS = new Set(
  [...stepProperties, ...rankProperties].flatMap(({ id }) => (id === OF_WEIGHTS ? [] : [id])),
);

const all: readonly LedgerProperty[] = [
  ...neverProperties,
  ...answerProperties,
  ...sampledProperties,
  renderedAlike,
  ...inputProperties,
  heldOut,
  otherOrders,
  consumedRows,
  declaredLength,
  leftOutById,
  knownToTheTokenizer,
  ...targetProperties,
  pairSigns,
  pairSizes,
  pairMargins,
  ownReference,
  ...weightProperties,
  ...stepProperties,
  ...rankProperties,
].map(ofWhatIsTrained);

/** Rules about tokens do not apply to a model that predicts none; those of whole steps do. */
function ofWhatIsTrained(property: LedgerProperty): LedgerProperty {
  if (WHOLE_STEPS.has(property.id)) return property;
  return {
    ...property,
    needs: (ledger) => (scoresOnly(ledger) ? PREDICTS_NOTHING : property.needs?.(ledger)),
  };
}

/**
 * Of a model that predicts no token, ids of the rules of whole steps. Else ids of those that say of a token whether it should be trained, towards what, and how strongly, or compare what was sampled
 * with what was trained: without one of them nothing is known of what a script trains. That steps were made and move
 * something is no verdict on that; nor are right ids where no weight is known. What holds of any row is none where nobody
 * knows what the rows are: without weights, or with negative ones, they may be a policy's, whose samples nobody saw.
 */
export function tellingOf({ rows, models }: Pick<Ledger, 'rows' | 'models'>): ReadonlySet<string> {
  if (scoresOnly({ models })) return new Set(stepProperties.map(({ id }) => id));
  const weighed = rows.some((row) => weightsOf(targetsOf(row)).some(({ value }) => value !== 0));
  const unknown = rows.every(({ spans: { origin } }) => origin.kind === 'text' || origin.kind === 'unknown');
  const silent = new Set([
    ...(weighed ? [] : OF_IDS),
    ...(unknown && (!weighed || rows.some(isPushedDown)) ? OF_ANY_ROW : []),
  ]);
  return new Set(
    [...neverProperties, ...answerProperties, ...sampledProperties, ...targetProperties, ...weightProperties]
      .filter(({ id, level }) => level !== 'may' && !silent.has(id))
      .map(({ id }) => id),
  );
}

const OF_TARGETS = targetProperties.map(({ id }) => id);
const OF_IDS = [...OF_TARGETS, 'trace/reference-sees-the-same-rows'];
const OF_ANY_ROW = [...OF_TARGETS, 'mask/padding-is-never-trained', 'mask/nothing-after-the-stop-is-trained'];

export const ledgerProperties: readonly LedgerProperty[] = all.toSorted(
  (left, right) => STAGES.indexOf(left.stage) - STAGES.indexOf(right.stage),
);
