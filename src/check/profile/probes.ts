// Every probe, in the order in which they build on each other.
import { advantageEpsilon, advantageSpread } from './advantages.ts';
import { lossAggregation, lossNormalization } from './aggregation.ts';
import { clipHigh, clipLow } from './clip.ts';
import { lossFormula } from './formula.ts';
import { klEstimate } from './kl.ts';
import { klInLoss } from './kl-in-loss.ts';
import type { Probe } from './probe.ts';
import { sftAggregation, sftNormalization } from './sft-loss.ts';
import { sftTarget } from './sft-target.ts';
import { stopInCompletion, stopInMask } from './stop.ts';
import { temperatureInScoring } from './temperature.ts';

/** A probe of any case: it draws its own cases and is handed no others, so the case's type is its own business. */
const any = <Case>(probe: Probe<Case>): Probe => probe as Probe;

export const PROBES: readonly Probe[] = [
  any(sftTarget),
  any(stopInCompletion),
  any(stopInMask),
  any(temperatureInScoring),
  any(klEstimate),
  any(advantageSpread),
  any(advantageEpsilon),
  any(lossAggregation),
  any(lossNormalization),
  any(clipLow),
  any(clipHigh),
  any(klInLoss),
  any(lossFormula),
  any(sftAggregation),
  any(sftNormalization),
];
