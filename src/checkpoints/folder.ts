// A checkpoint as a folder: config.json, model.safetensors and the tokenizer's files, as Hugging Face reads them.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBytes, readJson } from '../outside/file.ts';
import {
  configOf,
  type ModelConfig,
  type ModelWeights,
  type Parameter,
  type ReferenceModel,
} from '../reference/index.ts';
import { readSafetensors, writeSafetensors } from './safetensors.ts';

/** Reads config.json and all *.safetensors of a folder. */
export function readCheckpoint(folder: string): ReferenceModel | { readonly problem: string } {
  const file = join(folder, 'config.json');
  if (!existsSync(file)) return { problem: `${folder} has no config.json` };
  const json = readJson(file);
  if ('complaint' in json) return { problem: `${file} is not JSON: ${json.complaint}` };
  const config = configOf(json.ok);
  if ('problem' in config) return { problem: `${file}: ${config.problem}` };
  const weights = readWeights(folder, config);
  return 'problem' in weights ? weights : { config, weights };
}

/** All tensors of a folder's *.safetensors, under the names that a model of this configuration gives them. */
export function readWeights(
  folder: string,
  config: ModelConfig,
): ModelWeights | { readonly problem: string } {
  if (!existsSync(folder)) return { problem: `there is no folder ${folder}` };
  const files = readdirSync(folder).filter((name) => name.endsWith('.safetensors'));
  if (files.length === 0) return { problem: `${folder} has no .safetensors file` };
  const weights = new Map<string, Parameter>();
  let left = MOST_WEIGHTS;
  for (const name of files) {
    const bytes = readBytes(join(folder, name), left);
    if ('complaint' in bytes) return { problem: `${join(folder, name)}: ${bytes.complaint}` };
    left -= bytes.ok.length;
    const read = readSafetensors(bytes.ok);
    if ('problem' in read) return { problem: `${join(folder, name)}: ${read.problem}` };
    for (const [key, value] of read) weights.set(fullName(config, key), value);
  }
  return weights;
}

export interface CheckpointOptions {
  readonly model: ReferenceModel;
  /** Its files are copied beside the weights. */
  readonly tokenizer?: string;
  readonly eosTokenIds: readonly number[];
  readonly padTokenId: number;
  readonly bosTokenId?: number;
}

/** Writes a folder that `AutoModelForCausalLM.from_pretrained` loads; it must not exist yet, or be empty. */
export function writeCheckpoint(folder: string, options: CheckpointOptions): void {
  const { model, tokenizer } = options;
  mkdirSync(folder, { recursive: true });
  const ids = {
    // transformers gives the embedding of the model's pad token no gradient, wherever it stands. Where a trainer pads with its stop, it
    // tells the tokenizer so: published models have no pad token then, and a stop that nobody learns from is no rule to hold anybody to.
    ...(options.eosTokenIds.includes(options.padTokenId) ? {} : { pad_token_id: options.padTokenId }),
    eos_token_id: options.eosTokenIds.length === 1 ? options.eosTokenIds[0] : options.eosTokenIds,
    ...(options.bosTokenId === undefined ? {} : { bos_token_id: options.bosTokenId }),
  };
  writeFileSync(
    join(folder, 'config.json'),
    `${JSON.stringify({ ...configJson(model.config), ...ids }, null, 2)}\n`,
  );
  writeFileSync(join(folder, 'model.safetensors'), writeSafetensors(model.weights));
  if (tokenizer === undefined || !existsSync(tokenizer)) return;
  for (const name of readdirSync(tokenizer))
    if (TOKENIZER_FILES.test(name)) copyFileSync(join(tokenizer, name), join(folder, name));
}

/** A new folder where the system keeps what is not to stay. */
export const temporaryFolder = (prefix: string): string => mkdtempSync(join(tmpdir(), prefix));

export const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

// --- helpers ---

/** Of all files of a folder: the models that are compared have thousands of parameters, and of half a float four times as much is made. */
const MOST_WEIGHTS = 2 ** 27;
const TOKENIZER_FILES = /^(tokenizer|special_tokens_map|added_tokens|chat_template|vocab|merges)/;

/** GPT-2's own checkpoints leave the first part of each name out. */
function fullName({ family }: ModelConfig, name: string): string {
  const bare = family === 'gpt2' && !name.startsWith('transformer.') && !name.startsWith('lm_head.');
  return bare ? `transformer.${name}` : name;
}

/** Both forms of the rotary base, so that transformers 4 and 5 read the same model. */
function configJson(config: ModelConfig): Record<string, unknown> {
  const shared = {
    vocab_size: config.vocabSize,
    tie_word_embeddings: config.tied,
    torch_dtype: 'float32',
    dtype: 'float32',
  };
  if (config.family === 'gpt2')
    return {
      architectures: ['GPT2LMHeadModel'],
      model_type: 'gpt2',
      ...shared,
      n_positions: config.maxPositions,
      n_embd: config.width,
      n_layer: config.layers,
      n_head: config.heads,
      n_inner: config.inner,
      activation_function: 'gelu_new',
      layer_norm_epsilon: config.epsilon,
      // A reference has no dropout; a trainer that forgets eval() should not be told that its masks are wrong.
      resid_pdrop: 0,
      embd_pdrop: 0,
      attn_pdrop: 0,
    };
  return {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    ...shared,
    hidden_size: config.width,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.keyValueHeads,
    head_dim: config.headWidth,
    intermediate_size: config.inner,
    hidden_act: 'silu',
    rms_norm_eps: config.epsilon,
    max_position_embeddings: config.maxPositions,
    rope_theta: config.ropeTheta,
    rope_parameters: { rope_type: 'default', rope_theta: config.ropeTheta },
    attention_bias: config.inputBias && config.outputBias,
    mlp_bias: config.innerBias,
  };
}
