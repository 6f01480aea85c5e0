// The answer to hello: who the trainer is, what it can be asked, which legal choices it made. Unknown names are
// refused, because a capability that is misspelt would silently switch properties off.
import { onOneLine } from '../outside/text.ts';
import { FORMULAS, type Layout, type Semantics, TRAIN_FLAGS } from '../vocabulary.ts';
import { type Capability, type Hello, OPS, type Op, PROTOCOL } from './message.ts';
import { type Decoded, isJsonObject, shown } from './result.ts';
import {
  atLeast,
  clampOrNull,
  eitherOf,
  filled,
  flag,
  listOf,
  number,
  numberOrNull,
  oneOf,
  oneOrNamed,
  type Rule,
  record,
  recordOf,
  text,
  wholeFrom,
} from './rules.ts';

/** Checks the `ok` of an answer to hello. */
export function decodeHello(value: unknown): Decoded<Hello> {
  if (!isJsonObject(value)) return { complaint: `hello is ${shown(value)}, expected an object` };
  // First, because another version may have other names.
  if (value.protocol !== PROTOCOL) {
    const said =
      value.protocol === undefined ? 'names no protocol' : `speaks protocol ${shown(value.protocol)}`;
    return {
      complaint: `the trainer ${said}, this harness speaks protocol ${PROTOCOL}: answer hello with "protocol": ${PROTOCOL}, or use the lossproof release that speaks the trainer's`,
    };
  }
  const present = Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null));
  const complaint = HELLO(present, 'hello');
  if (complaint !== undefined) return { complaint };
  const names = Object.fromEntries(
    SHOWN.flatMap((name) => {
      const text = present[name];
      return typeof text === 'string' ? [[name, onOneLine(text, MOST_NAME)]] : [];
    }),
  );
  return { ok: { ...present, ...names } as unknown as Hello };
}

/** Names that stand in the first line of every output. */
const SHOWN = ['name', 'version', 'runtime'];
const MOST_NAME = 200;
/** Sixteen times the largest vocabulary of any released model; whoever draws ids or weights counts up to it. */
const MOST_VOCABULARY = 2 ** 24;
/** Processes of one adapter on one machine; each request lists the rows of each. */
const MOST_RANKS = 1024;

const LAYOUT: Rule<Layout> = record(
  { 'alignment!': oneOf('token', 'predictor'), 'span!': oneOf('row', 'completion') },
  'key',
);

const DTYPE = oneOf('float64', 'float32', 'bfloat16', 'float16');

type RulesFor<T> = { readonly [K in keyof T]-?: Rule<Exclude<T[K], undefined>> };

const CAPABILITIES: RulesFor<Capability> = {
  dtype: DTYPE,
  layout: LAYOUT,
  route: listOf(oneOf('sft', 'rl')),
  chat_template: flag,
  tools: flag,
  turns: oneOf(1),
  message_flag: oneOf(...TRAIN_FLAGS),
  overlong: oneOf('drop', 'truncate', 'split', 'refuse'),
  skip_special_tokens: flag,
  padding_side: listOf(oneOf('left', 'right')),
  pad_token_id: flag,
  after_stop: oneOf('padding', 'any'),
  eos_token_ids: oneOf(1),
  max_tool_tokens: flag,
  turn_rewards: flag,
  unfinished: flag,
  temperature: flag,
  packed: flag,
  reference: flag,
  kl: oneOf('exact', 'k1', 'k2', 'k3', 'abs'),
  families: listOf(oneOf('llama', 'gpt2')),
  starts_at_reference: flag,
  kl_estimator: listOf(oneOf('k1', 'k2', 'k3', 'abs')),
  process_rewards: flag,
  group_size: atLeast(1),
  groups_of_one: flag,
  interleaved_groups: flag,
  micro_batches: flag,
  ranks: eitherOf<boolean | number>(flag, wholeFrom(1, MOST_RANKS)),
  shards: flag,
  entropy: flag,
  sampling_logprobs: flag,
  margins: flag,
  knobs: recordOf(listOf(eitherOf<string | number>(number, text))),
  processors: listOf(oneOf('temperature', 'top_k', 'top_p', 'min_new_tokens', 'banned_sequences')),
  kinds: listOf(oneOf('presence', 'frequency', 'repetition')),
  samples: listOf(record({ 'prompt!': text, 'reference!': text, 'right!': text, 'wrong!': text }, 'key')),
  tags: record({ think: text, tool_call: text, tool_response: text, answer: text }, 'tag'),
  tool_specs: listOf(
    record({ 'name!': text, 'parameters!': recordOf(oneOf('string', 'number', 'boolean')) }, 'key'),
  ),
  orders: listOf(listOf(text)),
  losses: listOf(text),
  always_enabled: listOf(text),
  modes: listOf(oneOf('parallel', 'sequential', 'alternating')),
  optional_trainers: recordOf(text),
};

/** Which capabilities each op knows. */
export const OP_CAPABILITIES: Readonly<Record<Op, readonly (keyof Capability)[]>> = {
  render: ['route', 'chat_template', 'tools', 'turns'],
  tokenize: ['route', 'chat_template', 'tools', 'turns', 'message_flag'],
  sft_batch: ['padding_side', 'pad_token_id', 'tools', 'turns', 'message_flag'],
  preference_batch: ['tools', 'turns'],
  decode: ['skip_special_tokens'],
  collate: [],
  truncate: [],
  truncate_prompts: [],
  pack: ['overlong'],
  preference: [],
  extract: ['dtype', 'padding_side', 'eos_token_ids'],
  mask: ['layout', 'after_stop', 'eos_token_ids', 'unfinished'],
  rollout: ['layout', 'tools', 'turns', 'unfinished'],
  trajectory: ['dtype', 'after_stop', 'eos_token_ids', 'max_tool_tokens', 'turn_rewards'],
  logprobs: ['dtype', 'layout', 'temperature', 'shards'],
  score: ['dtype', 'packed'],
  update: ['dtype', 'starts_at_reference'],
  model_score: ['dtype', 'families', 'temperature', 'padding_side', 'packed', 'reference', 'kl'],
  train_step: ['dtype', 'families', 'route'],
  preference_step: ['dtype', 'families'],
  values: ['dtype', 'temperature'],
  reward_model: ['dtype'],
  entropy: ['dtype', 'layout'],
  full_kl: ['dtype', 'layout', 'temperature'],
  kl: ['dtype', 'layout', 'kl_estimator', 'knobs'],
  token_rewards: ['dtype', 'layout', 'process_rewards'],
  gae: ['dtype', 'layout'],
  returns: ['dtype', 'layout'],
  whiten: ['dtype', 'layout', 'ranks'],
  clip_advantages: ['dtype'],
  advantages: ['dtype', 'group_size', 'groups_of_one', 'interleaved_groups', 'ranks', 'knobs'],
  loss: ['dtype', 'layout', 'micro_batches', 'ranks', 'entropy', 'sampling_logprobs', 'knobs'],
  sft_loss: ['dtype', 'layout', 'micro_batches', 'ranks', 'shards'],
  value_loss: ['dtype', 'layout', 'micro_batches', 'ranks'],
  preference_loss: ['dtype', 'knobs'],
  reward_loss: ['dtype', 'margins'],
  unpaired_preference_loss: ['dtype'],
  sampling: ['dtype', 'processors', 'eos_token_ids'],
  penalties: ['dtype', 'kinds'],
  reward: ['dtype', 'samples'],
  overlong_penalty: ['dtype'],
  format_score: ['dtype', 'tags'],
  parse_tool_call: ['tags', 'tool_specs'],
  tool_step: ['tags', 'tool_specs'],
  contract: ['orders', 'losses'],
  schedule: ['losses', 'always_enabled', 'modes', 'optional_trainers'],
  segment_rows: [],
  unroll: [],
};

const SEMANTICS: RulesFor<Semantics> = {
  stop_token_in_mask: flag,
  truncated_completions_trained: flag,
  sft_aggregation: oneOf('token-mean', 'seq-mean-token-mean'),
  flagged_roles: oneOf('assistant', 'any'),
  sft_target: oneOf('all', 'assistant', 'last-assistant'),
  template_arguments: recordOf(eitherOf<string | number | boolean>(flag, number, text)),
  default_system: filled,
  completions_always_stop: flag,
  stop_token_in_completion: flag,
  kl_estimator: oneOf('k1', 'k2', 'k3', 'abs'),
  kl_clamp: oneOrNamed(clampOrNull, ['k1', 'k2', 'k3', 'abs'], 'estimator'),
  kl_level: oneOf('token', 'sequence'),
  kl_ratio_correction: flag,
  kl_placement: oneOf('loss', 'reward'),
  kl_coef: number,
  advantage_ddof: oneOf(0, 1),
  advantage_epsilon: number,
  advantage_min_std: number,
  advantage_epsilon_placement: oneOf('std', 'variance'),
  advantage_baseline: oneOf(
    'group-mean',
    'leave-one-out',
    'length-weighted',
    'leave-one-out-max',
    'batch-mean',
    'none',
  ),
  advantage_scaling: oneOf('group', 'batch', 'none'),
  loss_aggregation: oneOf('token-mean', 'seq-mean-token-mean', 'seq-mean-token-sum', 'token-sum-norm'),
  loss_norm: number,
  loss_normalization: oneOf('global', 'local'),
  value_clip: numberOrNull,
  value_loss_factor: number,
  value_aggregation: oneOf('token-mean', 'seq-mean-token-mean', 'seq-mean-token-sum'),
  clip_low: numberOrNull,
  clip_high: numberOrNull,
  ratio_level: oneOf('token', 'sequence', 'none'),
  policy_objective: oneOf('clip', 'cispo'),
  dual_clip: numberOrNull,
  log_ratio_clamp: numberOrNull,
  entropy_coef: number,
  truncation_side: oneOf('left', 'right', 'parts'),
  tool_truncation_side: oneOf('left', 'right', 'middle'),
  turn_reward_placement: oneOf('turn', 'row'),
  overlong: oneOf('truncate', 'drop'),
  preference_objective: oneOf('dpo', 'ipo', 'hinge', 'simpo'),
  preference_beta: number,
  preference_label_smoothing: number,
  preference_gamma: number,
  reward_centering: number,
  unpaired_objective: oneOf('kto', 'apo_zero'),
  unpaired_beta: number,
  desirable_weight: number,
  undesirable_weight: number,
  whiten_mean: flag,
  whiten_ddof: oneOf(0, 1),
  sampling_logprobs: oneOf('processed', 'temperature', 'raw'),
  temperature_in_scoring: flag,
  own_formulas: listOf(oneOf(...FORMULAS)),
  loss_is_descended: flag,
  gae_bootstrap: flag,
  equal_groups: flag,
  batches_always_train: flag,
  free_text_calls: flag,
  single_turn: flag,
  prefix_attention: flag,
  turns_are_episodes: flag,
  cut_at: listOf(atLeast(0)),
  in_place: listOf(oneOf(...(Object.keys(OPS) as Op[]))),
};

const opRules = Object.fromEntries(
  (Object.keys(OPS) as Op[]).map((op) => [
    op,
    record(Object.fromEntries(OP_CAPABILITIES[op].map((name) => [name, CAPABILITIES[name]])), `capability`),
  ]),
);

export const SEMANTICS_KEYS = Object.keys(SEMANTICS);
/** For wherever else semantics are declared: a configuration. */
export const SEMANTICS_RULE: Rule<Semantics> = record(SEMANTICS, 'semantics key');

const HELLO = record(
  {
    'protocol!': oneOf(PROTOCOL),
    'name!': text,
    version: text,
    runtime: text,
    'ops!': record(opRules, 'op'),
    lacks: record(Object.fromEntries((Object.keys(OPS) as Op[]).map((op) => [op, text])), 'op'),
    notes: listOf(text),
    layout: LAYOUT,
    semantics: SEMANTICS_RULE,
    tokens: record(
      {
        'vocab_size!': wholeFrom(1, MOST_VOCABULARY),
        'pad_token_id!': atLeast(0),
        'eos_token_ids!': listOf(atLeast(0)),
        bos_token_id: atLeast(0),
      },
      'key',
    ),
    tokenizer: text,
    dtype: DTYPE,
    max_length: atLeast(1),
    tensors: oneOf('json', 'base64'),
  },
  'key',
);
