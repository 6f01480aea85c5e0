// The specification of a run's logs: every rule, in the order in which a reader wants to hear of them.
import type { MonitorRule } from '../../src/index.ts';
import { besideRules } from './beside/index.ts';
import { lossFitsAccuracy } from './losses/accuracy.ts';
import { lossAddsUp } from './losses/adds-up.ts';
import { divergenceRules } from './losses/divergence.ts';
import { expectedRules } from './losses/expected.ts';
import { finiteRules } from './losses/finite.ts';
import { partRules } from './losses/parts.ts';
import { perplexityFits, scaleOfLoss } from './losses/scales.ts';
import { supervisedNotNegative } from './losses/supervised-sign.ts';
import { zeroLoss } from './losses/zero-loss.ts';
import { criticExplains } from './policy/critic.ts';
import { entropyRules } from './policy/entropy.ts';
import { klCoefficientRules } from './policy/kl-coefficient.ts';
import { klLeavesZero } from './policy/kl-moves.ts';
import { klRules } from './policy/kl-sign.ts';
import { lengthRules } from './policy/lengths.ts';
import { levelRules } from './policy/levels.ts';
import { policyRules } from './policy/policy.ts';
import { policyLossLives } from './policy/policy-loss.ts';
import { rewardFalls } from './policy/reward-falls.ts';
import { rewardRules } from './policy/rewards.ts';
import { klRunsAway } from './policy/runaway-kl.ts';
import { toolRules } from './policy/tools.ts';
import { sampleRules } from './samples/index.ts';
import { shapeRules } from './shapes/index.ts';
import { bestCheckpoint } from './steps/best-checkpoint.ts';
import { gradNormFinite } from './steps/finite-gradient.ts';
import { gradientRules } from './steps/gradient.ts';
import { learningRateRules } from './steps/learning-rate.ts';
import { oneSpan } from './steps/one-span.ts';
import { rateShapeRules } from './steps/rate-shapes.ts';
import { scheduleResumes } from './steps/resumed-rate.ts';
import { spikeRules } from './steps/spikes.ts';
import { throughputRules } from './steps/throughput.ts';
import { tokensGoOn } from './steps/tokens.ts';
import { valueRules } from './values/index.ts';

/** About series of numbers. */
export const seriesRules: readonly MonitorRule[] = [
  ...finiteRules,
  gradNormFinite,
  zeroLoss,
  ...partRules,
  ...expectedRules,
  ...gradientRules,
  supervisedNotNegative,
  lossFitsAccuracy,
  scaleOfLoss,
  perplexityFits,
  lossAddsUp,
  ...divergenceRules,
  ...shapeRules,
  ...learningRateRules,
  ...rateShapeRules,
  scheduleResumes,
  ...klRules,
  klLeavesZero,
  klRunsAway,
  ...klCoefficientRules,
  ...entropyRules,
  ...rewardRules,
  rewardFalls,
  ...policyRules,
  policyLossLives,
  criticExplains,
  ...lengthRules,
  ...toolRules,
  ...spikeRules,
  ...levelRules,
  ...throughputRules,
  oneSpan,
  bestCheckpoint,
  tokensGoOn,
  ...valueRules,
];

export const monitorRules: readonly MonitorRule[] = [...seriesRules, ...besideRules, ...sampleRules];
