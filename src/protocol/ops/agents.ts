// Ops of rewards and tool use: what a completion is worth, and what is made of the calls in it.
import type { OpSpec } from '../fields.ts';

export const AGENT_OPS = {
  reward: {
    args: { prompts: 'texts', completions: 'texts', references: 'texts', completion_ids: 'int_rows' },
    ok: { rewards: 'floats', lengths: 'ints?' }, // lengths: tokens of each completion, where the reward counts them
  },
  overlong_penalty: {
    args: { lengths: 'ints', max_length: 'int', buffer: 'int' },
    ok: { penalties: 'floats' },
  },
  format_score: {
    args: { completions: 'texts' },
    ok: { scores: 'floats' },
  },
  parse_tool_call: {
    args: { text: 'text' },
    ok: { status: 'text', name: 'text?', arguments: 'text?' }, // arguments: as JSON
  },
  tool_step: {
    args: { text: 'text' },
    ok: { observation: 'text', reward: 'float', status: 'text', done: 'int' }, // done: 1 or 0
  },
} as const satisfies Record<string, OpSpec>;
