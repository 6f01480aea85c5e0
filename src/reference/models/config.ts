// What of a model's config.json its forward pass depends on. Two families of decoder-only models; anything in a
// configuration that this forward pass does not do is refused, never ignored.

export interface ModelConfig {
  /** `llama`: RMSNorm, rotary positions, grouped queries, gated SiLU. `gpt2`: LayerNorm, learned positions, GELU. */
  readonly family: 'llama' | 'gpt2';
  readonly vocabSize: number;
  /** Width D of the residual stream. */
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  /** Heads of keys and values; `heads` is a multiple of it. */
  readonly keyValueHeads: number;
  /** Width of one head. */
  readonly headWidth: number;
  /** Width of the feed-forward layer. */
  readonly inner: number;
  readonly epsilon: number;
  readonly maxPositions: number;
  /** Base of the rotary frequencies. Of no meaning to gpt2. */
  readonly ropeTheta: number;
  /** Queries, keys and values have a bias (Qwen2), and the attention's output. */
  readonly inputBias: boolean;
  readonly outputBias: boolean;
  readonly innerBias: boolean;
  /** The head is the token embedding. */
  readonly tied: boolean;
}

/**
 * Reads the configuration that Hugging Face writes: transformers 5 has `rope_parameters` and `dtype` where 4 has
 * `rope_theta`, `rope_scaling` and `torch_dtype`. A `problem` names the field that this forward pass does not honour.
 */
export function configOf(json: unknown): ModelConfig | { readonly problem: string } {
  if (typeof json !== 'object' || json === null) return { problem: 'config.json is not an object' };
  const fields = json as Record<string, unknown>;
  try {
    if (fields.model_type === 'gpt2') return gpt2Config(fields);
    if (typeof fields.model_type === 'string' && LLAMA_LIKE.has(fields.model_type))
      return llamaConfig(fields);
    return {
      problem: `model_type is ${told(fields.model_type)}; known are gpt2, ${[...LLAMA_LIKE].join(', ')}`,
    };
  } catch (error) {
    if (error instanceof Unfit) return { problem: error.message };
    throw error;
  }
}

// --- helpers ---

const LLAMA_LIKE: ReadonlySet<string> = new Set(['llama', 'qwen2', 'mistral']);
/** transformers' defaults, for fields that a configuration may leave out. */
const ROPE_THETA = 10_000;
const RMS_EPSILON = 1e-6;
const LAYER_EPSILON = 1e-5;
const GPT2_POSITIONS = 1024;
const LLAMA_POSITIONS = 2048;
/** GPT-2's feed-forward layer is this many times as wide where n_inner is null. */
const GPT2_INNER = 4;

class Unfit extends Error {}

/** A value of the file, short enough for a sentence. */
const told = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, MOST_TOLD);
const MOST_TOLD = 80;

type Fields = Readonly<Record<string, unknown>>;

function whole(fields: Fields, name: string, otherwise?: number): number {
  const value = fields[name] ?? otherwise;
  if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
  throw new Unfit(`${name} is ${JSON.stringify(value)}, expected a positive whole number`);
}

function real(fields: Fields, name: string, otherwise: number): number {
  const value = fields[name] ?? otherwise;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new Unfit(`${name} is ${JSON.stringify(value)}, expected a number`);
}

function only(fields: Fields, name: string, ...values: readonly unknown[]): void {
  const value = fields[name];
  if (value === undefined || values.includes(value)) return;
  throw new Unfit(`${name} is ${JSON.stringify(value)}, which this forward pass does not do`);
}

function llamaConfig(fields: Fields): ModelConfig {
  only(fields, 'hidden_act', 'silu');
  // A window as wide as the positions is none; a narrower one masks keys.
  const maxPositions = whole(fields, 'max_position_embeddings', LLAMA_POSITIONS);
  if (fields.use_sliding_window !== false) only(fields, 'sliding_window', null, maxPositions);
  const rope = (fields.rope_parameters ?? fields.rope_scaling ?? {}) as Fields;
  only(rope, 'rope_type', 'default');
  only(rope, 'type', 'default');
  const heads = whole(fields, 'num_attention_heads');
  const width = whole(fields, 'hidden_size');
  const qwen = fields.model_type === 'qwen2';
  return {
    family: 'llama',
    vocabSize: whole(fields, 'vocab_size'),
    width,
    layers: whole(fields, 'num_hidden_layers'),
    heads,
    keyValueHeads: whole(fields, 'num_key_value_heads', heads),
    headWidth: whole(fields, 'head_dim', width / heads),
    inner: whole(fields, 'intermediate_size'),
    epsilon: real(fields, 'rms_norm_eps', RMS_EPSILON),
    maxPositions,
    ropeTheta: real(rope, 'rope_theta', real(fields, 'rope_theta', ROPE_THETA)),
    inputBias: qwen || fields.attention_bias === true,
    outputBias: !qwen && fields.attention_bias === true,
    innerBias: fields.mlp_bias === true,
    tied: fields.tie_word_embeddings === true,
  };
}

function gpt2Config(fields: Fields): ModelConfig {
  only(fields, 'activation_function', 'gelu_new', 'gelu_pytorch_tanh');
  only(fields, 'scale_attn_weights', true);
  only(fields, 'scale_attn_by_inverse_layer_idx', false);
  only(fields, 'add_cross_attention', false);
  const heads = whole(fields, 'n_head');
  const width = whole(fields, 'n_embd');
  return {
    family: 'gpt2',
    vocabSize: whole(fields, 'vocab_size'),
    width,
    layers: whole(fields, 'n_layer'),
    heads,
    keyValueHeads: heads,
    headWidth: width / heads,
    inner: whole(fields, 'n_inner', GPT2_INNER * width),
    epsilon: real(fields, 'layer_norm_epsilon', LAYER_EPSILON),
    maxPositions: whole(fields, 'n_positions', GPT2_POSITIONS),
    ropeTheta: ROPE_THETA,
    inputBias: true,
    outputBias: true,
    innerBias: true,
    tied: fields.tie_word_embeddings !== false,
  };
}
