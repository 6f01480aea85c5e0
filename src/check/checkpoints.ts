// A model for one case: its weights on both sides of the pipe, what its answers are compared with, and how near they must
// be.
import type { ModelKind } from '../checkpoints/models.ts';
import { LARGE_DEVIATION, randomDirection } from '../checkpoints/random.ts';
import type { ModelBatch } from '../generators/models/models.ts';
import { modelTolerance, type ReferenceModel } from '../reference/index.ts';
import { type Band, bandFrom } from './numbers.ts';
import type { Need, Subject, World } from './property.ts';

/** Positions that are turned into the states, of which a trainer that pads needs none where it masks well. */
export const ROTARY = ['llama', 'llama-tied'] as const;
/** A vector a position: what is passed as position, or left out, matters. */
export const LEARNED = ['gpt2', 'gpt2-untied'] as const;

export interface Handed {
  /** The folder, for the trainer. */
  readonly path: string;
  readonly model: ReferenceModel;
}

/** Named by a case; another seed is another model of the same shape. */
export function handed(subject: Subject, kind: ModelKind, seed: number): Handed {
  const { tokens, tokenizer } = subject.hello;
  if (tokens === undefined) throw new Error('a model needs hello.tokens');
  const name = { kind, seed, vocabulary: tokens.vocab_size };
  const path = subject.models.folder(name, {
    eosTokenIds: tokens.eos_token_ids,
    padTokenId: tokens.pad_token_id,
    ...(tokens.bos_token_id === undefined ? {} : { bosTokenId: tokens.bos_token_id }),
    ...(tokenizer === undefined ? {} : { tokenizer }),
  });
  return { path, model: subject.models.model(name) };
}

/** Seeds of policies are small; that of the reference of a case is this much larger. */
export const referenceSeed = ({ seed }: { readonly seed: number }): number => seed + REFERENCE_SEEDS;
const REFERENCE_SEEDS = 100;

/** How far a log-probability of this case may be off. */
export function modelBand(subject: Subject, drawn: ModelBatch, { model: { config } }: Handed): Band {
  const lengths = drawn.prompts.map((prompt, row) => prompt.length + (drawn.completions[row]?.length ?? 0));
  return bandFrom(
    modelTolerance(subject.hello.dtype ?? 'float32', {
      layers: config.layers,
      width: config.width,
      vocabulary: config.vocabSize,
      deviation: LARGE_DEVIATION,
      length: Math.max(...lengths),
      temperature: drawn.temperature,
    }),
  );
}

export { LARGE_DEVIATION, randomDirection };

type ModelOp = 'model_score' | 'train_step' | 'preference_step';

/** The trainer can load models of these kinds. */
export const loads =
  (op: ModelOp, kinds: readonly ModelKind[]): Need =>
  (world) => {
    const families = world.hello.ops[op]?.families ?? ['llama', 'gpt2'];
    return kinds.some((kind) => families.some((family) => kind.startsWith(family)))
      ? undefined
      : `op \`${op}\` does not load ${kinds[0]} models`;
  };

/** Those of these kinds that it can load. */
export function loadable<Kind extends ModelKind>(
  op: ModelOp,
  kinds: readonly Kind[],
  world: World,
): readonly Kind[] {
  const families = world.hello.ops[op]?.families ?? ['llama', 'gpt2'];
  return kinds.filter((kind) => families.some((family) => kind.startsWith(family)));
}
