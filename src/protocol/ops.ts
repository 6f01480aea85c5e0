// Protocol 1 in one table: every op, every field, once (op.ts says what an op is, and what derives from it).
import type { OpSpec } from './op.ts';
import { ADVANTAGE_OPS } from './ops/advantages.ts';
import { LOSS_OPS } from './ops/losses.ts';
import { MODEL_OPS } from './ops/models.ts';
import { PIPELINE_OPS } from './ops/pipelines.ts';
import { ROLLOUT_OPS } from './ops/rollouts.ts';
import { ROW_OPS } from './ops/rows.ts';
import { SCORE_OPS } from './ops/scores.ts';
import { TEXT_OPS } from './ops/text.ts';

/**
 * The families of ops, in the order in which a conversation meets them. A family has the same name on every floor of the
 * house (ARCHITECTURE.md): what is known of its ops stands in the folder of that name.
 */
export const FAMILIES = {
  text: TEXT_OPS,
  rows: ROW_OPS,
  rollouts: ROLLOUT_OPS,
  scores: SCORE_OPS,
  advantages: ADVANTAGE_OPS,
  losses: LOSS_OPS,
  models: MODEL_OPS,
  pipelines: PIPELINE_OPS,
} satisfies Record<string, Record<string, OpSpec>>;

export type Family = keyof typeof FAMILIES;
export const familyNames = Object.keys(FAMILIES) as readonly Family[];

export const OPS = {
  ...TEXT_OPS,
  ...ROW_OPS,
  ...ROLLOUT_OPS,
  ...SCORE_OPS,
  ...ADVANTAGE_OPS,
  ...LOSS_OPS,
  ...MODEL_OPS,
  ...PIPELINE_OPS,
} satisfies Record<string, OpSpec>;
