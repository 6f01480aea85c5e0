// The golden set: every case, in the order in which a conversation passes the stages.
import type { GoldenCase } from '../case.ts';
import { agentCases } from './agents.ts';
import { completionCases } from './completions.ts';
import { logitCases } from './logits.ts';
import { rowCases } from './rows.ts';
import { samplerCases } from './sampler.ts';
import { textCases } from './text.ts';
import { trackCases } from './tracks.ts';
import { turnCases } from './turns.ts';

export const goldenCases: readonly GoldenCase[] = [
  ...textCases,
  ...rowCases,
  ...completionCases,
  ...turnCases,
  ...samplerCases,
  ...logitCases,
  ...trackCases,
  ...agentCases,
];

/** Ops that no case asks: what they answer depends on checkpoints that the harness writes anew for each run. */
export const NOT_IN_THE_SET = ['model_score', 'train_step', 'preference_step'] as const;
