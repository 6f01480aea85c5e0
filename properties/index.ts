// The specification: every property, in the order in which a conversation passes the stages.
import type { Property } from '../src/index.ts';
import { advantagesProperties } from './advantages/advantages.ts';
import { advantagesKnobs, advantagesRelations, unequalGroups } from './advantages/advantages-relations.ts';
import { clippingProperties } from './advantages/clipping.ts';
import { filterProperties } from './advantages/filters.ts';
import { formatProperties } from './advantages/format.ts';
import { gaeProperties } from './advantages/gae.ts';
import { gaePadding } from './advantages/gae-padding.ts';
import { overlongProperties } from './advantages/overlong.ts';
import { returnsProperties } from './advantages/returns.ts';
import { rewardProperties } from './advantages/reward.ts';
import { tokenRewardsProperties } from './advantages/token-rewards.ts';
import { whiteningProperties } from './advantages/whitening.ts';
import { balanceLossFormula } from './losses/balance/formula.ts';
import { balanceLossRelations } from './losses/balance/relations.ts';
import { klGaps, lossGaps } from './losses/mask-gaps.ts';
import { preferenceLossProperties } from './losses/pairs/preference-loss.ts';
import { preferenceLossKnobs, preferenceLossRelations } from './losses/pairs/relations.ts';
import { preferenceRewards } from './losses/pairs/rewards.ts';
import { lossBonus } from './losses/policy/bonus.ts';
import { corrections } from './losses/policy/corrections.ts';
import { correctionsOfParts } from './losses/policy/corrections-of-parts.ts';
import { declaredCorrection } from './losses/policy/declared-correction.ts';
import { lossFormula } from './losses/policy/formula.ts';
import { lossProperties } from './losses/policy/loss.ts';
import { lossSettings, preferenceLossSettings } from './losses/policy/named-settings.ts';
import { lossKnobs, lossRelations } from './losses/policy/relations.ts';
import { samplingGaps } from './losses/policy/sampling-gap.ts';
import { lossDescent } from './losses/policy/slope.ts';
import { lossTerms } from './losses/policy/terms.ts';
import { rewardLossFormula } from './losses/reward/formula.ts';
import { rewardLossRelations } from './losses/reward/relations.ts';
import { sftLossProperties, sftLossRelations } from './losses/sft-loss.ts';
import { unpairedLossFormula } from './losses/unpaired/formula.ts';
import { unpairedLossRelations } from './losses/unpaired/relations.ts';
import { valueLossFormula } from './losses/values/formula.ts';
import { valueLossGradient } from './losses/values/gradient.ts';
import { valueLossRelations } from './losses/values/relations.ts';
import { modelProperties } from './models/model-score.ts';
import { modelKlProperties } from './models/model-score-kl.ts';
import { preferenceStepProperties } from './models/step/preference-step.ts';
import { modelStepProperties } from './models/step/train-step.ts';
import { updateProperties } from './models/update.ts';
import { contractProperties } from './pipelines/contract.ts';
import { contractEdges } from './pipelines/contract-edges.ts';
import { scheduleProperties } from './pipelines/schedule.ts';
import { segmentRowProperties, unrollProperties } from './pipelines/segments.ts';
import { extractProperties } from './rollouts/extract.ts';
import { longRollouts, longTrajectories } from './rollouts/long-rollouts.ts';
import { maskProperties } from './rollouts/mask/mask.ts';
import { maskPositions } from './rollouts/mask/positions.ts';
import { maskRelations } from './rollouts/mask/relations.ts';
import { resumeProperties } from './rollouts/partial.ts';
import { penaltiesProperties } from './rollouts/penalties.ts';
import { rolloutProperties } from './rollouts/rollout.ts';
import { rolloutRelations } from './rollouts/rollout-relations.ts';
import { samplingProperties } from './rollouts/sampling.ts';
import { samplingRecords } from './rollouts/sampling-record.ts';
import { extractLogprobs, maskTruncated } from './rollouts/tails.ts';
import { parserProperties } from './rollouts/tools/calls.ts';
import { stepProperties, twoStepProperties } from './rollouts/tools/steps.ts';
import { toolCuts } from './rollouts/trajectory/tool-cuts.ts';
import { trajectoryTracks } from './rollouts/trajectory/tracks.ts';
import { trajectoryProperties } from './rollouts/trajectory/trajectory.ts';
import { turnRewards } from './rollouts/trajectory/turn-rewards.ts';
import { collateProperties } from './rows/collate.ts';
import { truncatePromptRelations, truncateRelations } from './rows/cut-relations.ts';
import { longLimited, longPacked, longPairRows, longPrompts, longRows } from './rows/long-rows.ts';
import { multimodalProperties } from './rows/multimodal/batch.ts';
import { multimodalTruncation } from './rows/multimodal/cut.ts';
import { packProperties } from './rows/pack.ts';
import { packBoundaries } from './rows/pack-boundaries.ts';
import { packOverlong } from './rows/pack-overlong.ts';
import { preferenceProperties } from './rows/preference.ts';
import { preferenceRelations } from './rows/preference-relations.ts';
import { truncateProperties } from './rows/truncate.ts';
import { truncateColumns } from './rows/truncate-columns.ts';
import { truncatePromptProperties } from './rows/truncate-prompts.ts';
import { entropyProperties } from './scores/entropy.ts';
import { entropyRelations } from './scores/entropy-relations.ts';
import { fullKlProperties } from './scores/full-kl.ts';
import { fullSizeProperties } from './scores/full-size.ts';
import { klProperties } from './scores/kl.ts';
import { klAtReference, klKnobs, klRelations } from './scores/kl-relations.ts';
import { logprobsProperties } from './scores/logprobs.ts';
import { logprobsRelations } from './scores/logprobs-relations.ts';
import { longPromptProperties } from './scores/long-prompts.ts';
import { scoreProperties, scoreRelations } from './scores/score.ts';
import { packedScoreProperties } from './scores/score-packed.ts';
import { seamProperties } from './scores/seams.ts';
import { shardedLogprobs, shardedSftLoss } from './scores/shards.ts';
import { valuesProperties } from './scores/values.ts';
import { wholePromptProperties } from './scores/whole-prompt.ts';
import { uncutBatches, uncutDialogueBatches, uncutPairs, uncutRows } from './text/cut-aside.ts';
import { decodeProperties } from './text/decode.ts';
import { irregularBatchProperties, irregularProperties } from './text/irregular.ts';
import { labelProperties } from './text/labels.ts';
import { turnLabelProperties } from './text/labels-of-turns.ts';
import { longBatches, longConversations, longPairs } from './text/long.ts';
import { preferenceBatchProperties } from './text/preference-batch.ts';
import { renderProperties } from './text/render.ts';
import { sftBatchProperties } from './text/sft-batch.ts';
import { sftBatchRelations } from './text/sft-batch-relations.ts';
import { stopIdProperties } from './text/stop-ids.ts';
import { tokenizeProperties } from './text/tokenize.ts';
import { renderToolProperties, tokenizeToolProperties } from './text/tool-turns.ts';
import { flagBatchProperties, flagProperties } from './text/train-flags.ts';

/** A property's cases are its own business; whoever only runs it need not know their type. */
const anyCase = <Case>(properties: readonly Property<Case>[]): readonly Property[] =>
  properties as unknown as readonly Property[];

export const properties: readonly Property[] = [
  ...anyCase(renderProperties),
  ...anyCase(renderToolProperties),
  ...anyCase(uncutRows(tokenizeProperties)),
  ...anyCase(stopIdProperties),
  ...anyCase(longConversations),
  ...anyCase(uncutRows(labelProperties)),
  ...anyCase(uncutRows(turnLabelProperties)),
  ...anyCase(uncutRows(tokenizeToolProperties)),
  ...anyCase(uncutRows(flagProperties)),
  ...anyCase(uncutRows(irregularProperties)),
  ...anyCase(uncutBatches(sftBatchProperties)),
  ...anyCase(uncutBatches(sftBatchRelations)),
  ...anyCase(uncutBatches(flagBatchProperties)),
  ...anyCase(uncutDialogueBatches(irregularBatchProperties)),
  ...anyCase(longBatches),
  ...anyCase(decodeProperties),
  ...anyCase(collateProperties),
  ...anyCase(longRows),
  ...anyCase(truncateProperties),
  ...anyCase(truncateColumns),
  ...anyCase(truncatePromptProperties),
  ...anyCase(truncateRelations),
  ...anyCase(truncatePromptRelations),
  ...anyCase(longLimited),
  ...anyCase(longPrompts),
  ...anyCase(packProperties),
  ...anyCase(longPacked),
  ...anyCase(packBoundaries),
  ...anyCase(packOverlong),
  ...anyCase(preferenceProperties),
  ...anyCase(preferenceRelations),
  ...anyCase(longPairRows),
  ...anyCase(multimodalProperties),
  ...anyCase(multimodalTruncation),
  ...anyCase(uncutPairs(preferenceBatchProperties)),
  ...anyCase(longPairs),
  ...anyCase(extractProperties),
  ...anyCase(extractLogprobs),
  ...anyCase(maskProperties),
  ...anyCase([maskPositions]),
  ...anyCase(maskTruncated),
  ...anyCase(maskRelations),
  ...anyCase(rolloutProperties),
  ...anyCase(rolloutRelations),
  ...anyCase(resumeProperties),
  ...anyCase(longRollouts),
  ...anyCase(trajectoryProperties),
  ...anyCase(trajectoryTracks),
  ...anyCase(toolCuts),
  ...anyCase(turnRewards),
  ...anyCase(longTrajectories),
  ...anyCase(samplingProperties),
  ...anyCase(samplingRecords),
  ...anyCase(penaltiesProperties),
  ...anyCase(logprobsProperties),
  ...anyCase(logprobsRelations),
  ...anyCase([shardedLogprobs]),
  ...anyCase(fullSizeProperties),
  ...anyCase(scoreProperties),
  ...anyCase(scoreRelations),
  ...anyCase(packedScoreProperties),
  ...anyCase(valuesProperties),
  ...anyCase(wholePromptProperties),
  ...anyCase(longPromptProperties),
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
  ...anyCase(filterProperties),
  ...anyCase(formatProperties),
  ...anyCase(parserProperties),
  ...anyCase(stepProperties),
  ...anyCase(twoStepProperties),
  ...anyCase(tokenRewardsProperties),
  ...anyCase(gaeProperties),
  ...anyCase(gaePadding),
  ...anyCase(returnsProperties),
  ...anyCase(advantagesProperties),
  ...anyCase(advantagesRelations),
  ...anyCase(unequalGroups),
  ...anyCase(advantagesKnobs),
  ...anyCase(whiteningProperties),
  ...anyCase(clippingProperties),
  ...anyCase(lossProperties),
  ...anyCase(lossFormula),
  ...anyCase(lossRelations),
  ...anyCase(lossTerms),
  ...anyCase(lossBonus),
  ...anyCase(samplingGaps),
  ...anyCase(corrections),
  ...anyCase(correctionsOfParts),
  ...anyCase(declaredCorrection),
  ...anyCase(lossDescent),
  ...anyCase(lossGaps),
  ...anyCase(lossKnobs),
  ...anyCase(lossSettings),
  ...anyCase(sftLossProperties),
  ...anyCase(sftLossRelations),
  ...anyCase([shardedSftLoss]),
  ...anyCase(valueLossGradient),
  ...anyCase(valueLossFormula),
  ...anyCase(valueLossRelations),
  ...anyCase(preferenceLossProperties),
  ...anyCase(preferenceRewards),
  ...anyCase(preferenceLossRelations),
  ...anyCase(preferenceLossKnobs),
  ...anyCase(preferenceLossSettings),
  ...anyCase(rewardLossFormula),
  ...anyCase(rewardLossRelations),
  ...anyCase(unpairedLossFormula),
  ...anyCase(unpairedLossRelations),
  ...anyCase(balanceLossFormula),
  ...anyCase(balanceLossRelations),
  ...anyCase(contractProperties),
  ...anyCase(contractEdges),
  ...anyCase(scheduleProperties),
  ...anyCase(segmentRowProperties),
  ...anyCase(unrollProperties),
];
