// The specification of a run's logs: every rule, in the order in which a reader wants to hear of them.
import type { MonitorRule } from '../../src/index.ts';
import { besideRules } from './beside/index.ts';
import { divergenceRules } from './losses/divergence.ts';
import { expectedRules } from './losses/expected.ts';
import { finiteRules } from './losses/finite.ts';
import { partRules } from './losses/parts.ts';
import { supervisedNotNegative } from './losses/supervised-sign.ts';
import { zeroLoss } from './losses/zero-loss.ts';
import { entropyRules } from './policy/entropy.ts';
import { klLeavesZero } from './policy/kl-moves.ts';
import { klRules } from './policy/kl-sign.ts';
import { lengthRules } from './policy/lengths.ts';
import { policyRules } from './policy/policy.ts';
import { rewardRules } from './policy/rewards.ts';
import { sampleRules } from './samples/index.ts';
import { gradNormFinite } from './steps/finite-gradient.ts';
import { gradientRules } from './steps/gradient.ts';
import { learningRateRules } from './steps/learning-rate.ts';
import { spikeRules } from './steps/spikes.ts';
import { throughputRules } from './steps/throughput.ts';

/** About series of numbers. */
export const seriesRules: readonly MonitorRule[] = [
  ...finiteRules,
  gradNormFinite,
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

export const monitorRules: readonly MonitorRule[] = [...seriesRules, ...besideRules, ...sampleRules];
