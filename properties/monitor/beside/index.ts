// Rules beside runs that are held to be healthy (`--baseline`); without these they are not in a run at all.
import type { MonitorRule } from '../../../src/index.ts';
import { improvementBeside } from './improvement.ts';
import { lossBeside, lossStartBeside } from './losses.ts';
import { rewardBeside } from './rewards.ts';
import { gradNormBeside, lengthBeside } from './sizes.ts';

export const besideRules: readonly MonitorRule[] = [
  lossStartBeside,
  lossBeside,
  improvementBeside,
  gradNormBeside,
  lengthBeside,
  rewardBeside,
];
