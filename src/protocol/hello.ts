// The answer to hello: who the trainer is, what it can be asked, which legal choices it made. Unknown names are
// refused, because a capability that is misspelt would silently switch properties off.
import { onOneLine } from '../outside/text.ts';
import type { Choice, ChoiceKind, ChoiceTypes } from '../vocabulary/choice.ts';
import { CHOICES, FORMULAS, KL_ESTIMATORS, type Semantics } from '../vocabulary.ts';
import { CAPABILITIES, type Capability, DTYPE, LAYOUT } from './capability.ts';
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

/** What decodes a choice that is no name of a list, by kind. */
const RULES: { readonly [K in ChoiceKind]: Rule<ChoiceTypes[K]> } = {
  flag,
  number,
  'number or null': numberOrNull,
  text: filled,
  'template arguments': recordOf(eitherOf<string | number | boolean>(flag, number, text)),
  clamp: oneOrNamed(clampOrNull, KL_ESTIMATORS, 'estimator'),
  formulas: listOf(oneOf(...FORMULAS)),
  lengths: listOf(atLeast(0)),
  ops: listOf(oneOf(...(Object.keys(OPS) as Op[]))),
};

const SEMANTICS = Object.fromEntries(
  Object.entries<Choice>(CHOICES).map(([name, { values }]) => [
    name,
    typeof values === 'string' ? RULES[values] : oneOf(...values),
  ]),
);

const opRules = Object.fromEntries(
  (Object.keys(OPS) as Op[]).map((op) => [
    op,
    record(Object.fromEntries(OP_CAPABILITIES[op].map((name) => [name, CAPABILITIES[name]])), `capability`),
  ]),
);

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
