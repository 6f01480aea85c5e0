// The specification of a traced script: every property of a ledger, in the order of the stages.
import { type LedgerProperty, STAGES } from '../../src/index.ts';
import { inputProperties } from './input/input.ts';
import { pairSizes } from './pairs/opposite.ts';
import { pairSigns } from './pairs/signs.ts';
import { rankProperties } from './ranks/ranks.ts';
import { stepProperties } from './steps.ts';
import { answerProperties } from './tokens/answers.ts';
import { neverProperties } from './tokens/never.ts';
import { sampledProperties } from './tokens/sampled.ts';
import { targetProperties } from './tokens/targets.ts';
import { weightProperties } from './weights/weights.ts';

const all: readonly LedgerProperty[] = [
  ...neverProperties,
  ...answerProperties,
  ...sampledProperties,
  ...inputProperties,
  ...targetProperties,
  pairSigns,
  pairSizes,
  ...weightProperties,
  ...rankProperties,
];

/**
 * Those that say of a token whether it should be trained, towards what, and how strongly, or compare what was sampled with
 * what was trained. That steps were made and move something is no verdict on what they train.
 */
export const telling: ReadonlySet<string> = new Set(
  [...neverProperties, ...answerProperties, ...sampledProperties, ...targetProperties, ...weightProperties]
    .filter((each) => !stepProperties.includes(each) && each.level !== 'may')
    .map(({ id }) => id),
);

export const ledgerProperties: readonly LedgerProperty[] = all.toSorted(
  (left, right) => STAGES.indexOf(left.stage) - STAGES.indexOf(right.stage),
);
