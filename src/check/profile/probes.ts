// Every probe, in the order in which they build on each other.

import { advantageEpsilon, advantageSpread } from './advantages/advantages.ts';
import { advantageBaseline } from './advantages/baseline.ts';
import { rolloutFilter } from './advantages/filters.ts';
import { whitening } from './advantages/whitening.ts';
import { lossAggregation, lossNormalization } from './losses/aggregation.ts';
import { balanceWay } from './losses/balance-loss.ts';
import { clipHigh, clipLow, dualClip } from './losses/clip.ts';
import { entropyBonus } from './losses/entropy-bonus.ts';
import { lossFormula } from './losses/formula.ts';
import { klInLoss } from './losses/kl-in-loss.ts';
import { logRatioClamp } from './losses/log-ratio-clamp.ts';
import { policyObjective, ratioLevel } from './losses/objective.ts';
import { preferenceObjective } from './losses/preference-loss.ts';
import { rewardCentering } from './losses/reward-loss.ts';
import { samplingCorrection } from './losses/sampling-correction.ts';
import { sftAggregation, sftNormalization } from './losses/sft-loss.ts';
import { sftMean } from './losses/sft-mean.ts';
import { unpairedObjective } from './losses/unpaired-loss.ts';
import {
  valueAggregation,
  valueClip,
  valueFactor,
  valueFormula,
  valueNormalization,
} from './losses/value-loss.ts';
import type { Probe } from './probe.ts';
import { resumedPrefix } from './rollouts/partial.ts';
import { samplingRecord } from './rollouts/sampling.ts';
import { alwaysStops, stopInCompletion, stopInMask } from './rollouts/stop.ts';
import { toolTruncation, turnRewardPlacement } from './rollouts/turns.ts';
import { truncation } from './rows/truncation.ts';
import { klEstimate } from './scores/kl.ts';
import { temperatureInScoring } from './scores/temperature.ts';
import { chatRendering } from './text/chat.ts';
import { sftTarget } from './text/sft-target.ts';

/** A probe of any case: it draws its own cases and is handed no others, so the case's type is its own business. */
const any = <Case>(probe: Probe<Case>): Probe => probe as Probe;

export const PROBES: readonly Probe[] = [
  any(chatRendering),
  any(truncation),
  any(sftTarget),
  any(alwaysStops),
  any(stopInCompletion),
  any(stopInMask),
  any(toolTruncation),
  any(turnRewardPlacement),
  any(resumedPrefix),
  any(samplingRecord),
  any(temperatureInScoring),
  any(klEstimate),
  any(rolloutFilter),
  any(advantageSpread),
  any(advantageBaseline),
  any(advantageEpsilon),
  any(whitening),
  any(lossAggregation),
  any(lossNormalization),
  any(policyObjective),
  any(ratioLevel),
  any(clipLow),
  any(clipHigh),
  any(dualClip),
  any(logRatioClamp),
  any(samplingCorrection),
  any(klInLoss),
  any(entropyBonus),
  any(lossFormula),
  any(sftMean),
  any(sftAggregation),
  any(sftNormalization),
  any(valueFactor),
  any(valueClip),
  any(valueAggregation),
  any(valueNormalization),
  any(valueFormula),
  any(preferenceObjective),
  any(rewardCentering),
  any(unpairedObjective),
  any(balanceWay),
];
