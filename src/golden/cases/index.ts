// The golden set: every case, in the order in which a conversation passes the stages.
import type { GoldenCase } from '../case.ts';
import { advantageCases } from './advantages/advantages.ts';
import { criticCases } from './advantages/critic.ts';
import { rewardCases } from './advantages/rewards.ts';
import { balanceLossCases } from './losses/balance-loss.ts';
import { policyLossCases } from './losses/policy.ts';
import { preferenceLossCases } from './losses/preference-loss.ts';
import { rewardLossCases } from './losses/reward-loss.ts';
import { sftCases } from './losses/sft.ts';
import { unpairedLossCases } from './losses/unpaired-loss.ts';
import { valueLossCases } from './losses/value-loss.ts';
import { updateCases } from './models/update.ts';
import { pipelineCases } from './pipelines/pipelines.ts';
import { completionCases } from './rollouts/completions.ts';
import { samplerCases } from './rollouts/sampler.ts';
import { toolCases } from './rollouts/tools.ts';
import { turnCases } from './rollouts/turns.ts';
import { rowCases } from './rows/rows.ts';
import { klCases } from './scores/kl.ts';
import { logitCases } from './scores/logits.ts';
import { modelScoreCases } from './scores/models.ts';
import { textCases } from './text/text.ts';

export const goldenCases: readonly GoldenCase[] = [
  ...textCases,
  ...rowCases,
  ...completionCases,
  ...turnCases,
  ...samplerCases,
  ...toolCases,
  ...logitCases,
  ...modelScoreCases,
  ...klCases,
  ...rewardCases,
  ...criticCases,
  ...advantageCases,
  ...policyLossCases,
  ...sftCases,
  ...valueLossCases,
  ...preferenceLossCases,
  ...rewardLossCases,
  ...unpairedLossCases,
  ...balanceLossCases,
  ...updateCases,
  ...pipelineCases,
];

/** Ops that no case asks: what they answer depends on checkpoints that the harness writes anew for each run. */
export const NOT_IN_THE_SET = ['model_score', 'train_step', 'preference_step'] as const;
