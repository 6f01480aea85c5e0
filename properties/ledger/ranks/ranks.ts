// What several processes of one training are held to.
import type { LedgerProperty } from '../../../src/index.ts';
import { loaderRules } from './batches.ts';
import { clippingRules } from './clipping.ts';
import { dataRules } from './data.ts';
import { gradientRules } from './gradients.ts';
import { parameterRules } from './parameters.ts';

export const rankProperties: readonly LedgerProperty[] = [
  ...parameterRules,
  ...gradientRules,
  ...clippingRules,
  ...dataRules,
  ...loaderRules,
];
