// The specification of a traced script: every property of a ledger, in the order of the stages.
import { type LedgerProperty, STAGES } from '../../src/index.ts';
import { inputProperties } from './input/input.ts';
import { pairSizes } from './pairs/opposite.ts';
import { pairSigns } from './pairs/signs.ts';
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
];

export const ledgerProperties: readonly LedgerProperty[] = all.toSorted(
  (left, right) => STAGES.indexOf(left.stage) - STAGES.indexOf(right.stage),
);
