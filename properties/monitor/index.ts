// The specification of a run's logs: every rule, in the order in which a reader wants to hear of them.
import type { MonitorRule } from '../../src/index.ts';
import { divergenceRules } from './divergence.ts';
import { entropyRules } from './entropy.ts';
import { expectedRules } from './expected.ts';
import { finiteRules } from './finite.ts';
import { gradientRules } from './gradient.ts';
import { klLeavesZero } from './kl-moves.ts';
import { klRules } from './kl-sign.ts';
import { learningRateRules } from './learning-rate.ts';
import { lengthRules } from './lengths.ts';
import { partRules } from './parts.ts';
import { policyRules } from './policy.ts';
import { rewardRules } from './rewards.ts';
import { sampleRules } from './samples.ts';
import { spikeRules } from './spikes.ts';
import { supervisedNotNegative } from './supervised-sign.ts';
import { throughputRules } from './throughput.ts';
import { zeroLoss } from './zero-loss.ts';

/** About series of numbers. */
export const seriesRules: readonly MonitorRule[] = [
  ...finiteRules,
  zeroLoss,
  ...partRules,
  ...expectedRules,
  ...gradientRules,
  supervisedNotNegative,
  ...divergenceRules,
  ...learningRateRules,
  ...klRules,
  klLeavesZero,
  ...entropyRules,
  ...rewardRules,
  ...policyRules,
  ...lengthRules,
  ...spikeRules,
  ...throughputRules,
];

export const monitorRules: readonly MonitorRule[] = [...seriesRules, ...sampleRules];
