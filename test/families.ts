// The families by which all floors of this house are divided, and the ops of each.
import type { Op } from '../src/index.ts';

export const FAMILIES = {
  text: ['render', 'tokenize', 'decode'],
  rows: ['collate', 'truncate', 'truncate_prompts', 'pack', 'preference'],
  rollouts: [
    'sampling',
    'penalties',
    'extract',
    'mask',
    'rollout',
    'trajectory',
    'parse_tool_call',
    'tool_step',
  ],
  scores: ['logprobs', 'score', 'entropy', 'full_kl', 'kl', 'values', 'reward_model'],
  advantages: [
    'reward',
    'overlong_penalty',
    'format_score',
    'token_rewards',
    'gae',
    'whiten',
    'clip_advantages',
    'advantages',
  ],
  losses: ['loss', 'sft_loss', 'preference_loss'],
  models: ['model_score', 'train_step', 'preference_step', 'update'],
  pipelines: ['contract', 'schedule', 'segment_rows', 'unroll'],
} as const satisfies Readonly<Record<string, readonly Op[]>>;

export type Family = keyof typeof FAMILIES;

export const familyNames = Object.keys(FAMILIES) as Family[];

export function familyOf(op: Op): Family {
  const found = familyNames.find((name) => (FAMILIES[name] as readonly Op[]).includes(op));
  if (found === undefined) throw new Error(`op ${op} is of no family; name it in test/families.ts`);
  return found;
}
