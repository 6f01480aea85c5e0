// Protocol 1 in one table: every op, every field, once. The types of requests and answers, the decoder, the encoder
// of numbers and the tables in PROTOCOL.md all derive from it. A field is its kind and whether it may be absent.
import type { OpSpec } from './fields.ts';
import { AGENT_OPS } from './ops/agents.ts';
import { MODEL_OPS } from './ops/models.ts';
import { NUMBER_OPS } from './ops/numbers.ts';
import { PIPELINE_OPS } from './ops/pipelines.ts';
import { ROW_OPS } from './ops/rows.ts';
import { TEXT_OPS } from './ops/text.ts';

export const OPS = {
  ...TEXT_OPS,
  ...ROW_OPS,
  ...NUMBER_OPS,
  ...MODEL_OPS,
  ...AGENT_OPS,
  ...PIPELINE_OPS,
} as const satisfies Record<string, OpSpec>;
