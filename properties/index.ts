// The specification: every property, in the order in which a conversation passes the stages.
import type { Property } from '../src/index.ts';
import { advantagesProperties } from './advantages.ts';
import { collateProperties } from './collate.ts';
import { contractProperties } from './contract.ts';
import { extractProperties } from './extract.ts';
import { klProperties } from './kl.ts';
import { klRelations } from './kl-relations.ts';
import { labelProperties } from './labels.ts';
import { turnLabelProperties } from './labels-of-turns.ts';
import { logprobsProperties } from './logprobs.ts';
import { lossProperties } from './loss.ts';
import { lossFormula } from './loss-formula.ts';
import { lossRelations } from './loss-relations.ts';
import { maskProperties } from './mask.ts';
import { maskPositions } from './mask-positions.ts';
import { maskRelations } from './mask-relations.ts';
import { penaltiesProperties } from './penalties.ts';
import { renderProperties } from './render.ts';
import { rolloutProperties } from './rollout.ts';
import { scoreProperties } from './score.ts';
import { sftLossProperties } from './sft-loss.ts';
import { tokenizeProperties } from './tokenize.ts';

/** A property's cases are its own business; whoever only runs it need not know their type. */
const anyCase = <Case>(properties: readonly Property<Case>[]): readonly Property[] =>
  properties as unknown as readonly Property[];

export const properties: readonly Property[] = [
  ...anyCase(renderProperties),
  ...anyCase(tokenizeProperties),
  ...anyCase(labelProperties),
  ...anyCase(turnLabelProperties),
  ...anyCase(collateProperties),
  ...anyCase(extractProperties),
  ...anyCase(maskProperties),
  ...anyCase([maskPositions]),
  ...anyCase(maskRelations),
  ...anyCase(rolloutProperties),
  ...anyCase(logprobsProperties),
  ...anyCase(scoreProperties),
  ...anyCase(klProperties),
  ...anyCase(klRelations),
  ...anyCase(advantagesProperties),
  ...anyCase(lossProperties),
  ...anyCase(lossFormula),
  ...anyCase(lossRelations),
  ...anyCase(sftLossProperties),
  ...anyCase(penaltiesProperties),
  ...anyCase(contractProperties),
];
