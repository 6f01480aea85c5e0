// A model's parameters under the names that Hugging Face gives them, in float64, and which of them a configuration has.
import { misuse } from '../shape.ts';
import type { ModelConfig } from './config.ts';

export interface Parameter {
  readonly shape: readonly number[];
  /** Row-major. */
  readonly data: Float64Array;
}

export type ModelWeights = ReadonlyMap<string, Parameter>;

export interface ReferenceModel {
  readonly config: ModelConfig;
  readonly weights: ModelWeights;
}

/** Name to shape of every parameter that the forward pass reads, in the order of the pass. */
export function parameterShapes(config: ModelConfig): ReadonlyMap<string, readonly number[]> {
  return new Map(config.family === 'gpt2' ? gpt2Shapes(config) : llamaShapes(config));
}

/** The parameter's values. Throws `bad_shape` where the model has none of this name and size. */
export function dataOf(weights: ModelWeights, name: string, size: number): Float64Array {
  const data = weights.get(name)?.data;
  if (data?.length === size) return data;
  throw misuse('bad_shape', `${name} has ${data?.length ?? 'no'} values, expected ${size}`);
}

// --- helpers ---

type Shapes = [name: string, shape: readonly number[]][];

function llamaShapes(config: ModelConfig): Shapes {
  const { width, inner, heads, keyValueHeads, headWidth, vocabSize } = config;
  const [queries, keys] = [heads * headWidth, keyValueHeads * headWidth];
  const linear = (name: string, out: number, from: number, bias: boolean): Shapes => [
    [`${name}.weight`, [out, from]],
    ...(bias ? ([[`${name}.bias`, [out]]] satisfies Shapes) : []),
  ];
  const layers = Array.from({ length: config.layers }, (_, layer): Shapes => {
    const at = `model.layers.${layer}`;
    return [
      [`${at}.input_layernorm.weight`, [width]],
      ...linear(`${at}.self_attn.q_proj`, queries, width, config.inputBias),
      ...linear(`${at}.self_attn.k_proj`, keys, width, config.inputBias),
      ...linear(`${at}.self_attn.v_proj`, keys, width, config.inputBias),
      ...linear(`${at}.self_attn.o_proj`, width, queries, config.outputBias),
      [`${at}.post_attention_layernorm.weight`, [width]],
      ...linear(`${at}.mlp.gate_proj`, inner, width, config.innerBias),
      ...linear(`${at}.mlp.up_proj`, inner, width, config.innerBias),
      ...linear(`${at}.mlp.down_proj`, width, inner, config.innerBias),
    ];
  });
  return [
    ['model.embed_tokens.weight', [vocabSize, width]],
    ...layers.flat(),
    ['model.norm.weight', [width]],
    ...(config.tied ? [] : ([['lm_head.weight', [vocabSize, width]]] satisfies Shapes)),
  ];
}

function gpt2Shapes(config: ModelConfig): Shapes {
  const { width, inner, vocabSize, maxPositions } = config;
  const norm = (name: string): Shapes => [
    [`${name}.weight`, [width]],
    [`${name}.bias`, [width]],
  ];
  // GPT-2's linear layers are stored (in, out).
  const linear = (name: string, from: number, out: number): Shapes => [
    [`${name}.weight`, [from, out]],
    [`${name}.bias`, [out]],
  ];
  const layers = Array.from({ length: config.layers }, (_, layer): Shapes => {
    const at = `transformer.h.${layer}`;
    return [
      ...norm(`${at}.ln_1`),
      ...linear(`${at}.attn.c_attn`, width, 3 * width),
      ...linear(`${at}.attn.c_proj`, width, width),
      ...norm(`${at}.ln_2`),
      ...linear(`${at}.mlp.c_fc`, width, inner),
      ...linear(`${at}.mlp.c_proj`, inner, width),
    ];
  });
  return [
    ['transformer.wte.weight', [vocabSize, width]],
    ['transformer.wpe.weight', [maxPositions, width]],
    ...layers.flat(),
    ...norm('transformer.ln_f'),
    ...(config.tied ? [] : ([['lm_head.weight', [vocabSize, width]]] satisfies Shapes)),
  ];
}
