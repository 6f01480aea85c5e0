// Every cause that two recorded sides can show.
import type { Cause } from '../cause.ts';
import { absent } from './absent.ts';
import { penalty, tokenBias } from './bias.ts';
import { firstToken, lastToken } from './ends.ts';
import { scale } from './scale.ts';
import { shift } from './shift.ts';
import { staleWeights } from './stale-weights.ts';
import { start } from './start.ts';
import { temperature } from './temperature.ts';
import { truncation } from './truncation.ts';

export const CAUSES: readonly Cause[] = [
  temperature,
  truncation,
  shift,
  penalty,
  tokenBias,
  firstToken,
  lastToken,
  start,
  staleWeights,
  scale,
  absent,
];
