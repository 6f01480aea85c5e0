// The specification: every property, in the order in which a conversation passes the stages.
import type { Property } from '../src/index.ts';
import { advantagesProperties } from './advantages.ts';
import { advantagesKnobs, advantagesRelations } from './advantages-relations.ts';
import { clippingProperties } from './clipping.ts';
import { collateProperties } from './collate.ts';
import { contractProperties } from './contract.ts';
import { contractEdges } from './contract-edges.ts';
import { decodeProperties } from './decode.ts';
import { entropyProperties } from './entropy.ts';
import { entropyRelations } from './entropy-relations.ts';
import { extractProperties } from './extract.ts';
import { formatProperties } from './format.ts';
import { fullKlProperties } from './full-kl.ts';
import { fullSizeProperties } from './full-size.ts';
import { gaeProperties } from './gae.ts';
import { irregularProperties } from './irregular.ts';
import { klProperties } from './kl.ts';
import { klAtReference, klKnobs, klRelations } from './kl-relations.ts';
import { labelProperties } from './labels.ts';
import { turnLabelProperties } from './labels-of-turns.ts';
import { logprobsProperties } from './logprobs.ts';
import { lossProperties } from './loss.ts';
import { lossFormula } from './loss-formula.ts';
import { lossKnobs, lossRelations } from './loss-relations.ts';
import { lossTerms } from './loss-terms.ts';
import { maskProperties } from './mask.ts';
import { klGaps, lossGaps } from './mask-gaps.ts';
import { maskPositions } from './mask-positions.ts';
import { maskRelations } from './mask-relations.ts';
import { modelProperties } from './model.ts';
import { modelKlProperties } from './model-kl.ts';
import { modelStepProperties } from './model-step.ts';
import { lossSettings, preferenceLossSettings } from './named-settings.ts';
import { overlongProperties } from './overlong.ts';
import { packProperties } from './pack.ts';
import { packBoundaries } from './pack-boundaries.ts';
import { penaltiesProperties } from './penalties.ts';
import { preferenceProperties } from './preference.ts';
import { preferenceLossProperties } from './preference-loss.ts';
import { preferenceLossKnobs, preferenceLossRelations } from './preference-loss-relations.ts';
import { preferenceRelations } from './preference-relations.ts';
import { preferenceRewards } from './preference-rewards.ts';
import { preferenceStepProperties } from './preference-step.ts';
import { renderProperties } from './render.ts';
import { rewardProperties } from './reward.ts';
import { rolloutProperties } from './rollout.ts';
import { samplingProperties } from './sampling.ts';
import { samplingRecords } from './sampling-record.ts';
import { scheduleProperties } from './schedule.ts';
import { scoreProperties, scoreRelations } from './score.ts';
import { packedScoreProperties } from './score-packed.ts';
import { seamProperties } from './seams.ts';
import { segmentRowProperties, unrollProperties } from './segments.ts';
import { sftLossProperties, sftLossRelations } from './sft-loss.ts';
import { shardedLogprobs, shardedSftLoss } from './shards.ts';
import { extractLogprobs, maskTruncated } from './tails.ts';
import { tokenRewardsProperties } from './token-rewards.ts';
import { tokenizeProperties } from './tokenize.ts';
import { stepProperties, twoStepProperties } from './tool-steps.ts';
import { renderToolProperties, tokenizeToolProperties } from './tool-turns.ts';
import { parserProperties } from './tools.ts';
import { trajectoryProperties } from './trajectory.ts';
import { trajectoryTracks } from './trajectory-tracks.ts';
import { truncateProperties } from './truncate.ts';
import { truncateColumns } from './truncate-columns.ts';
import { truncatePromptProperties } from './truncate-prompts.ts';
import { updateProperties } from './update.ts';
import { valuesProperties } from './values.ts';
import { whiteningProperties } from './whitening.ts';

/** A property's cases are its own business; whoever only runs it need not know their type. */
const anyCase = <Case>(properties: readonly Property<Case>[]): readonly Property[] =>
  properties as unknown as readonly Property[];

export const properties: readonly Property[] = [
  ...anyCase(renderProperties),
  ...anyCase(renderToolProperties),
  ...anyCase(tokenizeProperties),
  ...anyCase(labelProperties),
  ...anyCase(turnLabelProperties),
  ...anyCase(tokenizeToolProperties),
  ...anyCase(irregularProperties),
  ...anyCase(decodeProperties),
  ...anyCase(collateProperties),
  ...anyCase(truncateProperties),
  ...anyCase(truncateColumns),
  ...anyCase(truncatePromptProperties),
  ...anyCase(packProperties),
  ...anyCase(packBoundaries),
  ...anyCase(preferenceProperties),
  ...anyCase(preferenceRelations),
  ...anyCase(extractProperties),
  ...anyCase(extractLogprobs),
  ...anyCase(maskProperties),
  ...anyCase([maskPositions]),
  ...anyCase(maskTruncated),
  ...anyCase(maskRelations),
  ...anyCase(rolloutProperties),
  ...anyCase(trajectoryProperties),
  ...anyCase(trajectoryTracks),
  ...anyCase(samplingProperties),
  ...anyCase(samplingRecords),
  ...anyCase(penaltiesProperties),
  ...anyCase(logprobsProperties),
  ...anyCase([shardedLogprobs]),
  ...anyCase(fullSizeProperties),
  ...anyCase(scoreProperties),
  ...anyCase(scoreRelations),
  ...anyCase(packedScoreProperties),
  ...anyCase(valuesProperties),
  ...anyCase(seamProperties),
  ...anyCase(updateProperties),
  ...anyCase(modelProperties),
  ...anyCase(modelKlProperties),
  ...anyCase(modelStepProperties),
  ...anyCase(preferenceStepProperties),
  ...anyCase(entropyProperties),
  ...anyCase(entropyRelations),
  ...anyCase(fullKlProperties),
  ...anyCase(klProperties),
  ...anyCase(klAtReference),
  ...anyCase(klRelations),
  ...anyCase(klGaps),
  ...anyCase(klKnobs),
  ...anyCase(rewardProperties),
  ...anyCase(overlongProperties),
  ...anyCase(formatProperties),
  ...anyCase(parserProperties),
  ...anyCase(stepProperties),
  ...anyCase(twoStepProperties),
  ...anyCase(tokenRewardsProperties),
  ...anyCase(gaeProperties),
  ...anyCase(advantagesProperties),
  ...anyCase(advantagesRelations),
  ...anyCase(advantagesKnobs),
  ...anyCase(whiteningProperties),
  ...anyCase(clippingProperties),
  ...anyCase(lossProperties),
  ...anyCase(lossFormula),
  ...anyCase(lossRelations),
  ...anyCase(lossTerms),
  ...anyCase(lossGaps),
  ...anyCase(lossKnobs),
  ...anyCase(lossSettings),
  ...anyCase(sftLossProperties),
  ...anyCase(sftLossRelations),
  ...anyCase([shardedSftLoss]),
  ...anyCase(preferenceLossProperties),
  ...anyCase(preferenceRewards),
  ...anyCase(preferenceLossRelations),
  ...anyCase(preferenceLossKnobs),
  ...anyCase(preferenceLossSettings),
  ...anyCase(contractProperties),
  ...anyCase(contractEdges),
  ...anyCase(scheduleProperties),
  ...anyCase(segmentRowProperties),
  ...anyCase(unrollProperties),
];
