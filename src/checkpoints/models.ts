// The models that a check hands to a trainer: random ones of either family, made when they are first asked for and kept
// until the process ends, and the folders in which a trainer saves what it trained.
import { configOf, type ModelConfig, type ModelWeights, type ReferenceModel } from '../reference/index.ts';
import {
  type CheckpointOptions,
  readWeights,
  removeFolder,
  temporaryFolder,
  writeCheckpoint,
} from './folder.ts';
import { randomModel } from './random.ts';

/** `llama`: rotary positions, grouped queries. `gpt2`: learned positions, biases. Of each, head and embedding are one or two. */
export const MODEL_KINDS = ['llama', 'llama-tied', 'gpt2', 'gpt2-untied'] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

/** Names a model: the same name is the same weights, in every process. */
export interface ModelName {
  readonly kind: ModelKind;
  readonly seed: number;
  readonly vocabulary: number;
}

/** What goes into the folder beside the weights. */
export type ModelFolder = Omit<CheckpointOptions, 'model'>;

export interface Models {
  readonly model: (name: ModelName) => ReferenceModel;
  /** A folder with this model; it is there until the process ends. */
  readonly folder: (name: ModelName, beside: ModelFolder) => string;
  /** The path of a folder that does not exist yet. */
  readonly saving: () => string;
  /** What was saved there, which is removed; or why it cannot be read. */
  readonly saved: (path: string, config: ModelConfig) => ModelWeights | { readonly problem: string };
}

/** The models of this process. */
export const models: Models = {
  model(name) {
    const key = JSON.stringify(name);
    const known = made.get(key);
    if (known !== undefined) return known;
    const config = configOf(configJson(name));
    if ('problem' in config) throw new Error(config.problem);
    const model = randomModel(config, name.seed);
    const [oldest] = made.keys();
    if (made.size >= MOST_KEPT && oldest !== undefined) made.delete(oldest);
    made.set(key, model);
    return model;
  },
  folder(name, beside) {
    const key = JSON.stringify([name, beside]);
    const known = written.get(key);
    if (known !== undefined) return known;
    const path = `${root()}/${name.kind}-${name.seed}-${written.size}`;
    writeCheckpoint(path, { ...beside, model: models.model(name) });
    written.set(key, path);
    return path;
  },
  saving: () => `${root()}/saved-${savings++}`,
  saved(path, config) {
    const weights = readWeights(path, config);
    removeFolder(path);
    return weights;
  },
};

// --- helpers ---

/** In memory: of a real vocabulary each takes 40 MB, and it is made again in less time than a trainer needs to load it. */
const MOST_KEPT = 8;
const made = new Map<string, ReferenceModel>();
const written = new Map<string, string>();
let savings = 0;
let folder: string | undefined;

/** Removed when the process ends: by itself, as the command does after Ctrl-C, or by a signal that nobody else handles. */
function root(): string {
  if (folder !== undefined) return folder;
  const made = temporaryFolder('lossproof-models-');
  const remove = (): void => removeFolder(made);
  process.once('exit', remove);
  // First, and once, so that whoever else listens does not count this one: they may finish a case, and end the process.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.prependOnceListener(signal, () => {
      if (process.listenerCount(signal) > 0) return;
      remove();
      process.kill(process.pid, signal);
    });
  folder = made;
  return made;
}

/** Small enough for a trainer in plain Python, with two layers and two query heads per key, so that both can be mixed up. */
const WIDTH = 8;
const INNER = 16;
const LAYERS = 2;
const HEADS = 4;
const KEY_VALUE_HEADS = 2;
/** Of a rotary model: two frequencies, so that they can be mixed up as well. A learned position needs none. */
const ROTARY_HEAD_WIDTH = 4;
/** More than all rows of a case packed into one. */
const POSITIONS = 128;
/**
 * Positions turn faster than with the usual 10,000, so that rows of ten tokens show which ones were used; and the
 * frequencies, 1 and 1/16, are exact in any precision.
 */
const ROPE_THETA = 256;

function configJson({ kind, vocabulary }: ModelName): Record<string, unknown> {
  return kind.startsWith('gpt2')
    ? {
        model_type: 'gpt2',
        vocab_size: vocabulary,
        n_embd: WIDTH,
        n_inner: INNER,
        n_layer: LAYERS,
        n_head: HEADS,
        n_positions: POSITIONS,
        tie_word_embeddings: kind === 'gpt2',
      }
    : {
        model_type: 'llama',
        vocab_size: vocabulary,
        hidden_size: WIDTH,
        intermediate_size: INNER,
        num_hidden_layers: LAYERS,
        num_attention_heads: HEADS,
        num_key_value_heads: KEY_VALUE_HEADS,
        head_dim: ROTARY_HEAD_WIDTH,
        max_position_embeddings: POSITIONS,
        rope_theta: ROPE_THETA,
        tie_word_embeddings: kind === 'llama-tied',
      };
}
