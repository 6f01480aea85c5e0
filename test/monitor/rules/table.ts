// For every rule, logs that break it and logs that look alike and do not. A rule without both fails the test.

import type { Cases } from './cases/case.ts';
import { COMPLETIONS } from './cases/completions.ts';
import { FINITE } from './cases/finite.ts';
import { GRADIENTS } from './cases/gradients.ts';
import { GROWTH } from './cases/growth.ts';
import { KL_AND_ENTROPY } from './cases/kl-and-entropy.ts';
import { LIMITS } from './cases/limits.ts';
import { LOSSES } from './cases/losses.ts';
import { MORE_POLICY_CASES, POLICY_CASES } from './cases/policy.ts';
import { POSSIBLE } from './cases/possible.ts';
import { RATES } from './cases/rates.ts';
import { REWARDS } from './cases/rewards.ts';
import { RUN } from './cases/run.ts';
import { SCALES } from './cases/scales.ts';
import { SPIKES } from './cases/spikes.ts';
import { TRAINED_CASES } from './cases/trained.ts';
import { UPDATES } from './cases/updates.ts';
import { ZERO_LOSS } from './cases/zero-loss.ts';

const FILES = [
  LOSSES,
  GRADIENTS,
  FINITE,
  ZERO_LOSS,
  UPDATES,
  KL_AND_ENTROPY,
  REWARDS,
  COMPLETIONS,
  SPIKES,
  RUN,
  POLICY_CASES,
  MORE_POLICY_CASES,
  TRAINED_CASES,
  RATES,
  LIMITS,
  GROWTH,
  SCALES,
  POSSIBLE,
];

/** The cases of one rule may stand in several files. */
export const TABLE: Readonly<Record<string, Cases>> = Object.fromEntries(
  [...new Set(FILES.flatMap(Object.keys))].map((id) => {
    const all = FILES.flatMap((file) => file[id] ?? []);
    return [
      id,
      { breaking: all.flatMap(({ breaking }) => breaking), holding: all.flatMap(({ holding }) => holding) },
    ];
  }),
);
