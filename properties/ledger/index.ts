// The specification of a traced script: every property of a ledger, in the order of the stages.
import { type LedgerProperty, STAGES } from '../../src/index.ts';
import { answerProperties } from './answers.ts';
import { inputProperties } from './input.ts';
import { neverProperties } from './never.ts';
import { sampledProperties } from './sampled.ts';
import { targetProperties } from './targets.ts';
import { weightProperties } from './weights.ts';

const all: readonly LedgerProperty[] = [
  ...neverProperties,
  ...answerProperties,
  ...sampledProperties,
  ...inputProperties,
  ...targetProperties,
  ...weightProperties,
];

export const ledgerProperties: readonly LedgerProperty[] = all.toSorted(
  (left, right) => STAGES.indexOf(left.stage) - STAGES.indexOf(right.stage),
);
