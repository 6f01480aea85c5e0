// Every probe, in the order in which they build on each other.
import { advantageEpsilon, advantageSpread } from './advantages.ts';
import { lossAggregation, lossNormalization } from './aggregation.ts';
import { clipHigh, clipLow, dualClip } from './clip.ts';
import { entropyBonus } from './entropy.ts';
import { lossFormula } from './formula.ts';
import { klEstimate } from './kl.ts';
import { klInLoss } from './kl-in-loss.ts';
import { logRatioClamp } from './log-ratio-clamp.ts';
import { policyObjective, ratioLevel } from './objective.ts';
import { preferenceObjective } from './preference.ts';
import type { Probe } from './probe.ts';
import { samplingRecord } from './sampling.ts';
import { sftAggregation, sftNormalization } from './sft-loss.ts';
import { sftMean } from './sft-mean.ts';
import { sftTarget } from './sft-target.ts';
import { stopInCompletion, stopInMask } from './stop.ts';
import { temperatureInScoring } from './temperature.ts';
import { truncation } from './truncation.ts';
import { whitening } from './whitening.ts';

/** A probe of any case: it draws its own cases and is handed no others, so the case's type is its own business. */
const any = <Case>(probe: Probe<Case>): Probe => probe as Probe;

export const PROBES: readonly Probe[] = [
  any(truncation),
  any(sftTarget),
  any(stopInCompletion),
  any(stopInMask),
  any(samplingRecord),
  any(temperatureInScoring),
  any(klEstimate),
  any(advantageSpread),
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
  any(klInLoss),
  any(entropyBonus),
  any(lossFormula),
  any(sftMean),
  any(sftAggregation),
  any(sftNormalization),
  any(preferenceObjective),
];
