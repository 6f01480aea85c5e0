// Small scripts by topic: each shape as it should be, and with the mistakes that people make in it.

import type { Cases } from '../kinds.ts';
import { addedTokens } from './added.ts';
import { clips } from './clips.ts';
import { evaluations } from './evaluations.ts';
import { families } from './families.ts';
import { frozen } from './frozen.ts';
import { heads } from './heads.ts';
import { losses } from './losses.ts';
import { partitions } from './partitions.ts';
import { passes } from './passes.ts';
import { places } from './places.ts';
import { ranks } from './ranks.ts';
import { rollouts } from './rollouts.ts';
import { samplers } from './samplers.ts';
import { scores } from './scores.ts';
import { shares } from './shares.ts';
import { slopes } from './slopes.ts';
import { states } from './states.ts';
import { steps } from './steps.ts';
import { teachers } from './teachers.ts';

export const TOPICS: Readonly<Record<string, Cases>> = {
  added: addedTokens,
  clips,
  evaluations,
  families,
  frozen,
  heads,
  losses,
  partitions,
  passes,
  places,
  ranks,
  rollouts,
  samplers,
  scores,
  shares,
  slopes,
  states,
  steps,
  teachers,
};
