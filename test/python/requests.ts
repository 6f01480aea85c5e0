// One plausible request for each op, for smoke tests of the example trainers: the first example in PROTOCOL.md.
import { readFileSync } from 'node:fs';
import { models } from '../../src/checkpoints/models.ts';
import { parseAnswer } from '../../src/protocol/json.ts';
import type { Request } from './adapter.ts';

/** Per-token matrices of two rows and four columns, the completion being the last two. */
export const TRACKS = {
  logprobs: [
    [0, -2, -1, -2],
    [0, -3, -0.1, -0.2],
  ],
  old_logprobs: [
    [0, -2, -1.1, -1],
    [0, -3, -0.5, -0.2],
  ],
  ref_logprobs: [
    [0, -2, -1, -2.5],
    [0, -3, -0.5, -0.7],
  ],
  completion_mask: [
    [0, 0, 1, 0],
    [0, 0, 1, 1],
  ],
};

const checkpoint = (seed: number): string =>
  models.folder({ kind: 'llama', seed, vocabulary: 32 }, { eosTokenIds: [2], padTokenId: 0 });
const MODEL = { model_path: checkpoint(0), prompt_ids: [[5], [6, 7]], completion_ids: [[11, 2], [12]] };

/** Where the example names a folder that is not there, an estimator that not every trainer has, or logits that are all alike. */
const OWN: Readonly<Record<string, object>> = {
  kl: { ...TRACKS, prompt_width: 0 },
  sft_loss: {
    input_ids: [[0, 1, 1]],
    attention_mask: [[1, 1, 1]],
    labels: [[-100, 1, 1]],
    logits: [
      [
        [0, 1],
        [3, 0],
        [0, 0],
      ],
    ],
    micro_batches: [[0]],
  },
  model_score: { ...MODEL, temperature: 1, reference_path: checkpoint(1) },
  train_step: { ...MODEL, learning_rate: 0.5, saved_path: models.saving() },
  preference_step: {
    model_path: MODEL.model_path,
    reference_path: checkpoint(1),
    prompt_ids: MODEL.prompt_ids,
    chosen_ids: MODEL.completion_ids,
    rejected_ids: MODEL.completion_ids.toReversed(),
    learning_rate: 0.5,
    saved_path: models.saving(),
  },
};

const protocol = readFileSync(new URL('../../PROTOCOL.md', import.meta.url), 'utf8');
const examples = new Map<string, object>();
for (const [line] of protocol.matchAll(/^\{"id": \d+, "op": ".*$/gm)) {
  const parsed = parseAnswer(line);
  if ('complaint' in parsed) throw new Error(parsed.complaint);
  const { op, args } = parsed.ok as { readonly op: string; readonly args: object };
  if (op !== 'hello' && !examples.has(op)) examples.set(op, args);
}

export const ONE_EACH: readonly Request[] = [...examples].map(([op, args]) => ({
  op,
  args: OWN[op] ?? args,
}));
