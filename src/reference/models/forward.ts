// The forward pass of a small decoder-only model in float64: ids in, logits out. Rows are taken one by one, so that no
// batch mate and no padding can matter; a row may hold padding all the same, to say what a batch of a trainer does.
import type { Ids } from '../../vocabulary.ts';
import { misuse } from '../shape.ts';
import {
  attend,
  geluTanh,
  layerNorm,
  linear,
  linearTransposed,
  rmsNorm,
  rotate,
  type States,
  silu,
  zip,
} from './layers.ts';
import { dataOf, type ReferenceModel } from './weights.ts';

export interface ModelRow {
  /** (T,) */
  readonly ids: Ids;
  /** (T,), 0 at padding, which no token sees; default: all real. */
  readonly attention?: readonly number[];
  /** (T,); default: each real token's number among the real tokens of its segment, 0 at padding. */
  readonly positions?: readonly number[];
  /** (T,), the example that a token belongs to, where several are packed into a row: they do not see each other. */
  readonly segments?: readonly number[];
}

/**
 * Logits (T, V): those at t predict token t + 1. Those at padding mean nothing.
 * Throws `bad_argument` for an id outside the vocabulary or a position that the model has not learned.
 */
export function forward(model: ReferenceModel, row: ModelRow): States {
  return linear(hiddenStates(model, row), headOf(model));
}

/** The head's matrix, (V, D). */
export function headOf({ config, weights }: ReferenceModel): Float64Array {
  const { family, tied, vocabSize, width } = config;
  return dataOf(weights, tied ? EMBEDDING[family] : 'lm_head.weight', vocabSize * width);
}

/** What the head reads, (T, D). */
export function hiddenStates(model: ReferenceModel, row: ModelRow): States {
  const positions = row.positions ?? positionsOf(row);
  const sees = (t: number, s: number): boolean =>
    row.attention?.[s] !== 0 && row.segments?.[s] === row.segments?.[t];
  return model.config.family === 'gpt2'
    ? gpt2(model, row.ids, positions, sees)
    : llama(model, row.ids, positions, sees);
}

/** Positions count real tokens, within each segment from 0; padding stands at 0. */
export function positionsOf({ ids, attention, segments }: ModelRow): number[] {
  const next = new Map<number | undefined, number>();
  return ids.map((_, t) => {
    if (attention?.[t] === 0) return 0;
    const position = next.get(segments?.[t]) ?? 0;
    next.set(segments?.[t], position + 1);
    return position;
  });
}

// --- helpers ---

const EMBEDDING = { llama: 'model.embed_tokens.weight', gpt2: 'transformer.wte.weight' } as const;

type Sees = (t: number, s: number) => boolean;

function llama(model: ReferenceModel, ids: Ids, positions: readonly number[], sees: Sees): States {
  const { weights, config } = model;
  const { width, inner, heads, keyValueHeads, headWidth, epsilon } = config;
  const get = (name: string, size: number): Float64Array => dataOf(weights, name, size);
  const project = (states: States, name: string, out: number, bias: boolean): States => {
    const weight = get(`${name}.weight`, out * (states[0]?.length ?? 0));
    return linear(states, weight, bias ? get(`${name}.bias`, out) : undefined);
  };
  const turn = (states: States): States => rotate(states, positions, headWidth, config.ropeTheta);
  let states = embed(ids, get(EMBEDDING.llama, config.vocabSize * width), width);
  for (let layer = 0; layer < config.layers; layer++) {
    const at = `model.layers.${layer}`;
    const read = rmsNorm(states, get(`${at}.input_layernorm.weight`, width), epsilon);
    const shared = keyValueHeads * headWidth;
    const attended = attend(
      turn(project(read, `${at}.self_attn.q_proj`, heads * headWidth, config.inputBias)),
      turn(project(read, `${at}.self_attn.k_proj`, shared, config.inputBias)),
      project(read, `${at}.self_attn.v_proj`, shared, config.inputBias),
      { heads, keyValueHeads, headWidth, sees },
    );
    states = add(states, project(attended, `${at}.self_attn.o_proj`, width, config.outputBias));
    const after = rmsNorm(states, get(`${at}.post_attention_layernorm.weight`, width), epsilon);
    const gate = project(after, `${at}.mlp.gate_proj`, inner, config.innerBias);
    const up = project(after, `${at}.mlp.up_proj`, inner, config.innerBias);
    // Shazeer 2020, "GLU Variants Improve Transformer", SwiGLU.
    const gated = zip(gate, up, (g, u) => silu(g) * u);
    states = add(states, project(gated, `${at}.mlp.down_proj`, width, config.innerBias));
  }
  return rmsNorm(states, get('model.norm.weight', width), epsilon);
}

function gpt2(model: ReferenceModel, ids: Ids, positions: readonly number[], sees: Sees): States {
  const { weights, config } = model;
  const { width, inner, heads, headWidth, epsilon, maxPositions } = config;
  const get = (name: string, size: number): Float64Array => dataOf(weights, `transformer.${name}`, size);
  const norm = (states: States, name: string): States =>
    layerNorm(states, get(`${name}.weight`, width), get(`${name}.bias`, width), epsilon);
  const project = (states: States, name: string, out: number): States =>
    linearTransposed(states, get(`${name}.weight`, (states[0]?.length ?? 0) * out), get(`${name}.bias`, out));
  let states = add(
    embed(ids, get('wte.weight', config.vocabSize * width), width),
    embed(positions, get('wpe.weight', maxPositions * width), width),
  );
  for (let layer = 0; layer < config.layers; layer++) {
    const all = project(norm(states, `h.${layer}.ln_1`), `h.${layer}.attn.c_attn`, 3 * width);
    const part = (index: number): States => all.map((x) => x.subarray(index * width, (index + 1) * width));
    const attended = attend(part(0), part(1), part(2), { heads, keyValueHeads: heads, headWidth, sees });
    states = add(states, project(attended, `h.${layer}.attn.c_proj`, width));
    const opened = project(norm(states, `h.${layer}.ln_2`), `h.${layer}.mlp.c_fc`, inner);
    states = add(
      states,
      project(
        opened.map((x) => x.map(geluTanh)),
        `h.${layer}.mlp.c_proj`,
        width,
      ),
    );
  }
  return norm(states, 'ln_f');
}

const add = (left: States, right: States): States => zip(left, right, (a, b) => a + b);

function embed(indices: readonly number[], table: Float64Array, width: number): States {
  const size = table.length / width;
  return indices.map((index) => {
    if (Number.isInteger(index) && index >= 0 && index < size)
      return table.slice(index * width, (index + 1) * width);
    throw misuse('bad_argument', `there is no row ${index} in a table of ${size}`);
  });
}
