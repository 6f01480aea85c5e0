// Rules about what an optimiser's step did: that it trains, and with what gradients, of which tensors, at which rate.
import type { LedgerProperty } from '../../../src/index.ts';
import { addedProperties } from './added.ts';
import { beginProperties } from './beginnings.ts';
import { clippingProperties } from './clipping.ts';
import { decayProperties } from './decay.ts';
import { dropoutProperties } from './dropout.ts';
import { freezingProperties } from './freezing.ts';
import { gradientProperties } from './gradients.ts';
import { layerProperties } from './layers.ts';
import { leftOverProperties } from './left-over.ts';
import { lossProperties } from './losses.ts';
import { resumedProperties } from './resumed.ts';
import { scalerProperties } from './scaler.ts';
import { scheduleProperties } from './schedules.ts';
import { sharingProperties } from './sharing.ts';
import { slopeProperties } from './slopes.ts';
import { stateProperties } from './states.ts';
import { tensorProperties } from './tensors.ts';
import { trainingProperties } from './training.ts';

export const stepProperties: readonly LedgerProperty[] = [
  ...trainingProperties,
  ...gradientProperties,
  ...leftOverProperties,
  ...tensorProperties,
  ...layerProperties,
  ...freezingProperties,
  ...addedProperties,
  ...beginProperties,
  ...decayProperties,
  ...clippingProperties,
  ...scalerProperties,
  ...scheduleProperties,
  ...sharingProperties,
  ...lossProperties,
  ...stateProperties,
  ...resumedProperties,
  ...slopeProperties,
  ...dropoutProperties,
];
