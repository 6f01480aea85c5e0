// The specification of a traced script: every property of a ledger, in the order of the stages.
import { type Ledger, type LedgerProperty, STAGES } from '../../src/index.ts';
import { inputProperties } from './input/input.ts';
import { isPushedDown } from './input/policy.ts';
import { pairSizes } from './pairs/opposite.ts';
import { pairSigns } from './pairs/signs.ts';
import { rankProperties } from './ranks/ranks.ts';
import { stepProperties } from './steps/steps.ts';
import { answerProperties } from './tokens/answers.ts';
import { neverProperties } from './tokens/never.ts';
import { renderedAlike } from './tokens/rendered.ts';
import { sampledProperties } from './tokens/sampled.ts';
import { targetProperties } from './tokens/targets.ts';
import { weightProperties } from './weights/weights.ts';

const all: readonly LedgerProperty[] = [
  ...neverProperties,
  ...answerProperties,
  ...sampledProperties,
  renderedAlike,
  ...inputProperties,
  ...targetProperties,
  pairSigns,
  pairSizes,
  ...weightProperties,
  ...stepProperties,
  ...rankProperties,
];

/**
 * Ids of those that say of a token whether it should be trained, towards what, and how strongly, or compare what was sampled
 * with what was trained: without one of them nothing is known of what a script trains. That steps were made and move
 * something is no verdict on that; nor are right targets and untrained padding one on a policy whose samples nobody saw.
 */
export function tellingOf({ rows }: Pick<Ledger, 'rows'>): ReadonlySet<string> {
  const unknown = rows.every(({ spans: { origin } }) => origin.kind === 'text' || origin.kind === 'unknown');
  const blindPolicy = unknown && rows.some(isPushedDown);
  return new Set(
    [
      ...neverProperties.filter(({ id }) => !(blindPolicy && OF_ANY_ROW.includes(id))),
      ...answerProperties,
      ...sampledProperties,
      ...(blindPolicy ? [] : targetProperties),
      ...weightProperties,
    ]
      .filter(({ level }) => level !== 'may')
      .map(({ id }) => id),
  );
}

/** They judge rows of which nobody knows what they are. */
const OF_ANY_ROW = ['mask/padding-is-never-trained', 'mask/nothing-after-the-stop-is-trained'];

export const ledgerProperties: readonly LedgerProperty[] = all.toSorted(
  (left, right) => STAGES.indexOf(left.stage) - STAGES.indexOf(right.stage),
);
