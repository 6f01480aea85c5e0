// The answer to hello: who the trainer is, what it can be asked, which legal choices it made. Unknown names are
// refused, because a capability that is misspelt would silently switch properties off.
import { onOneLine } from '../outside/text.ts';
import { FORMULAS, type Semantics } from '../vocabulary.ts';
import { CAPABILITIES, type Capability, DTYPE, LAYOUT, type RulesFor } from './capability.ts';
import { type Hello, OPS, type Op, PROTOCOL } from './message.ts';
import { capabilitiesOf } from './op.ts';
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

/** Which capabilities each op knows. */
export const OP_CAPABILITIES = Object.fromEntries(
  (Object.keys(OPS) as Op[]).map((op) => [op, capabilitiesOf(OPS[op])]),
) as Readonly<Record<Op, readonly (keyof Capability)[]>>;

const SEMANTICS: RulesFor<Semantics> = {
  stop_token_in_mask: flag,
  truncated_completions_trained: flag,
  sft_objective: oneOf('nll', 'dft'),
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
  sampling_correction: oneOf('none', 'truncated', 'masked', 'filtered', 'own'),
  sampling_correction_level: oneOf('token', 'sequence', 'sequence-mean'),
  sampling_correction_low: numberOrNull,
  sampling_correction_high: numberOrNull,
  entropy_coef: number,
  truncation_side: oneOf('left', 'right', 'parts'),
  tool_truncation_side: oneOf('left', 'right', 'middle'),
  turn_reward_placement: oneOf('turn', 'row'),
  overlong: oneOf('truncate', 'drop'),
  preference_objective: oneOf('dpo', 'dpo_norm', 'ipo', 'hinge', 'simpo'),
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
