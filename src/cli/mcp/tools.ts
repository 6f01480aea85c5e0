// The tools of `lossproof mcp`, one object each: what an agent reads of it, what it takes, and which words of the command
// line that makes. Schema, complaints and words follow from the arguments.
import { nearestName } from '../../protocol/nearest.ts';
import { TRAIN_ON } from '../../view/row.ts';
import { LEVELS } from '../../vocabulary.ts';
import { ADAPTER_NAMES } from '../trainer/adapters.ts';

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly takes: Readonly<Record<string, Argument>>;
  /** Exactly one of these names what runs. */
  readonly oneOf?: readonly string[];
  /** It starts nothing and writes nothing. */
  readonly reads: boolean;
  /** Where the command leaves its document: in the file of --findings, or on its standard output with --json. */
  readonly document: 'findings' | 'json';
  /** Properties are counted in the file of --events. */
  readonly events?: true;
}

interface Argument {
  readonly kind: keyof typeof KINDS;
  readonly what: string;
  /** Absent: the name is the option's. */
  readonly as?: 'positional' | 'command';
  readonly choices?: readonly string[];
  readonly required?: true;
}

const COMMAND = {
  kind: 'texts',
  as: 'command',
  what: 'The command, one word per item, as in ["python", "adapter.py"]. It runs without a shell in the working folder of the server.',
} as const;
/** A configuration's trainer, or the command of a saved case, runs only if the call names it: nobody else has asked for it. */
const TRAINER = {
  command: COMMAND,
  adapter: { kind: 'text', choices: ADAPTER_NAMES, what: 'A ready-made adapter instead of a command.' },
  bundled: { kind: 'flag', what: "lossproof's own example instead of a command, to try the tool." },
} as const;
const ONLY = {
  kind: 'texts',
  what: 'Properties by id, stage or glob, as in ["mask/*", "kl"]. Default: all of the level.',
} as const;
const STRICT = { kind: 'flag', what: 'Also fail on legal but suspicious choices.' } as const;
const TOKENIZER = { kind: 'text', what: 'Folder with tokenizer.json.' } as const;
const TRAIN = {
  kind: 'text',
  choices: TRAIN_ON,
  what: 'The tokens to train if a row does not say.',
} as const;

export const TOOLS: readonly Tool[] = [
  {
    name: 'check',
    description:
      'Check a trainer of language models with generated cases, through an adapter: masks, log-probabilities, KL, advantages and losses. Returns what is wrong, each with its smallest case and the next command. Name one of command, adapter and bundled.',
    takes: {
      ...TRAINER,
      only: ONLY,
      level: {
        kind: 'text',
        choices: LEVELS,
        what: 'Levels to run; each includes those before it. Default: must.',
      },
      cases: { kind: 'count', what: 'Cases per property. Default: 100.' },
      seed: { kind: 'count', what: 'Seed of the cases. Default: a new one.' },
      strict: STRICT,
      tokenizer: TOKENIZER,
      max_time: { kind: 'count', what: 'Stop after this many seconds.' },
    },
    oneOf: Object.keys(TRAINER),
    reads: false,
    document: 'findings',
    events: true,
  },
  {
    name: 'trace',
    description:
      'Run an unmodified PyTorch training script for a few optimiser steps, and return what is wrong with the tokens that it trains.',
    takes: {
      command: { ...COMMAND, required: true },
      steps: { kind: 'count', what: 'Optimiser steps before the script is stopped. Default: 2.' },
      dataset: { kind: 'text', what: 'The training data as JSON lines, to compare with what is trained.' },
      train_on: TRAIN,
      tokenizer: TOKENIZER,
      level: { kind: 'text', choices: LEVELS, what: 'Levels to run. Default: should.' },
      only: ONLY,
      strict: STRICT,
    },
    reads: false,
    document: 'findings',
  },
  {
    name: 'view',
    description:
      'Show which tokens of a data set are trained, and flag rows whose mask is wrong. Reads JSON lines, a JSON array or Parquet. Runs nothing.',
    takes: {
      data: { kind: 'text', as: 'positional', what: 'The file.' },
      conversation: { kind: 'text', what: 'Instead of a file: one row as JSON, such as a list of messages.' },
      tokenizer: TOKENIZER,
      template: { kind: 'text', what: "File with a chat template to use in place of the tokenizer's." },
      train_on: TRAIN,
      max_length: { kind: 'count', what: 'Cut rows to this many tokens, as the trainer will.' },
      rows: { kind: 'count', what: 'Rows to show, flagged ones first. Default: 3.' },
      strict: { kind: 'flag', what: 'Also fail on notes.' },
    },
    oneOf: ['data', 'conversation'],
    reads: true,
    document: 'json',
  },
  {
    name: 'explain',
    description: 'Explain a property or a known bug: why it matters, where it was seen, what to do.',
    takes: {
      ids: {
        kind: 'texts',
        as: 'positional',
        required: true,
        what: 'Properties by id, stage or glob, or bugs by id, such as MSK-01.',
      },
    },
    reads: true,
    document: 'json',
  },
  {
    name: 'replay',
    description:
      'Run one saved failing case again, to see whether a repair holds. Name the trainer as in the check that found it: one of command, adapter and bundled.',
    takes: {
      case: { kind: 'text', as: 'positional', required: true, what: 'Id of the case, as findings name it.' },
      ...TRAINER,
    },
    oneOf: Object.keys(TRAINER),
    reads: false,
    document: 'findings',
  },
];

/** The words behind `lossproof`, of arguments without a complaint. */
export function wordsOf({ name, takes }: Tool, given: Given): readonly string[] {
  const of = (as: Argument['as']) => Object.entries(given).filter(([key]) => takes[key]?.as === as);
  const options = of(undefined).flatMap(([key, value]) => {
    const option = `--${key.replaceAll('_', '-')}`;
    if (value === false) return [];
    return value === true ? [option] : [`${option}=${[value].flat().join(',')}`];
  });
  const command = of('command').flatMap(([, value]) => value as readonly string[]);
  return [
    name,
    ...options,
    ...of('positional').flatMap(([, value]) => value as string | readonly string[]),
    ...(command.length === 0 ? [] : ['--', ...command]),
  ];
}

export type Given = Readonly<Record<string, unknown>>;

export function schemaOf({ takes }: Tool): object {
  const required = Object.keys(takes).filter((key) => takes[key]?.required === true);
  return {
    type: 'object',
    properties: Object.fromEntries(
      Object.entries(takes).map(([key, { kind, what, choices }]) => [
        key,
        { description: what, ...KINDS[kind].schema, ...(choices === undefined ? {} : { enum: choices }) },
      ]),
    ),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** Why a call cannot be made, as one sentence: the SDK's own do not name the argument. The command itself refuses values that it does not know. */
export function complaintOf({ name, takes, oneOf }: Tool, given: Given): string | undefined {
  for (const [key, value] of Object.entries(given)) {
    const argument = Object.hasOwn(takes, key) ? takes[key] : undefined;
    if (argument === undefined) {
      const near = nearestName(key, Object.keys(takes));
      const hint =
        near === undefined ? `it takes ${Object.keys(takes).join(', ')}` : `did you mean "${near}"?`;
      return `${name} takes no argument "${key}", ${hint}`;
    }
    const { kind, as } = argument;
    if (!KINDS[kind].is(value)) return `${key} must be ${KINDS[kind].words}`;
    // It would be taken for an option that the tool does not offer, such as one that writes a file.
    if (as === 'positional' && [value].flat().some((word) => String(word).startsWith('-')))
      return `${key} must not begin with "-"`;
  }
  const missing = Object.keys(takes).find((key) => takes[key]?.required === true && given[key] === undefined);
  if (missing !== undefined) return `${name} needs ${missing}: ${takes[missing]?.what ?? ''}`;
  const named = oneOf?.filter((key) => given[key] !== undefined && given[key] !== false);
  if (oneOf !== undefined && named?.length !== 1) return `${name} needs exactly one of ${oneOf.join(', ')}`;
  return undefined;
}

// --- helpers ---

interface Kind {
  readonly schema: object;
  readonly is: (value: unknown) => boolean;
  readonly words: string;
}

/** No system starts a program with a NUL in its words. */
const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !value.includes('\0');

const KINDS = {
  text: { schema: { type: 'string' }, is: isText, words: 'a text that is not empty' },
  texts: {
    schema: { type: 'array', items: { type: 'string' }, minItems: 1 },
    is: (value) => Array.isArray(value) && value.length > 0 && value.every(isText),
    words: 'a list of texts, none of them empty',
  },
  count: {
    schema: { type: 'integer', minimum: 0 },
    is: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    words: 'a whole number',
  },
  flag: { schema: { type: 'boolean' }, is: (value) => typeof value === 'boolean', words: 'true or false' },
} satisfies Readonly<Record<string, Kind>>;
