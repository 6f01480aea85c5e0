// What is known of axolotl's rows when data and tokenizer are there: columns, end-of-turn tokens, the template, and what
// becomes of rows that are too long.
import { isJsonObject } from '../../../outside/decoded.ts';
import type { Tokenizer } from '../../../tokenizers/tokenizer.ts';
import { writerOf } from '../../writer.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import { nearest, textOf, written } from '../keys.ts';
import type { Known } from '../known.ts';
import type { Opened, Seen } from '../plan.ts';
import { type Ruled, ruledRows, type Tokens } from '../rows.ts';
import { type ChatEntry, chatEntryOf, chatRows } from './chat.ts';
import type { DatasetEntry } from './datasets.ts';
import { type Prompts, plainRows } from './plain.ts';
import type { Named } from './template.ts';

export interface Made {
  readonly config: ConfigFile;
  readonly known: Known;
  readonly entries: readonly DatasetEntry[];
  readonly template: Named;
  /** The tokenizer as the configuration names it. */
  readonly model: string;
}

export function openAxolotl({ config, known, entries, template, model }: Made, seen: Seen): Opened | Problem {
  const { values } = config;
  const tokenizer = specialised(config, seen.tokenizer);
  if ('problem' in tokenizer) return tokenizer;
  if (entries.length === 0)
    return { problem: `${config.name} names no data set, so it is not known how rows are written` };
  const chats = entries.some(({ kind }) => kind === 'chat_template');
  const unknown = chats && !seen.templateTyped ? unread(template, seen.template, known) : undefined;
  if (unknown !== undefined) return unknown;
  const limit =
    seen.maxLength ??
    (values.sequence_len === undefined ? known.keys.sequence_len?.default : values.sequence_len);
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 1)
    return { problem: `sequence_len of ${config.name} is not a length` };
  const inputs = values.train_on_inputs === true;
  const own = entries.map((entry) =>
    chatEntryOf(config, entry, { inputs, template: seen.template ?? '', tokenizer, model }),
  );
  const faults: SettingFault[] = [
    ...entries.flatMap((entry, at) => columnFaults(config, entry, seen.columns[at])),
    ...(chats ? turnEnds(config, own, seen.template ?? '', tokenizer) : []),
  ];
  const used = new Set<string>();
  const writer = seen.template === undefined ? undefined : writerOf(tokenizer, seen.template);
  const making = entries.map((entry, at) => {
    const chat = own[at];
    const plain = plainRows(entry, {
      tokenizer,
      limit,
      inputs,
      prompts: known.templates['alpaca prompts'] as Prompts,
    });
    if (entry.kind !== 'chat_template' || chat === undefined) return plain;
    const rows =
      writer === undefined
        ? () => ({ stops: 'there is no chat template' })
        : chatRows(chat, writer, { used, systems: seen.columns[at]?.has('system') === true });
    return (row: Parameters<typeof plain>[0]): Ruled =>
      TOKENISED.every((key) => seen.columns[at]?.has(key)) ? plain(row) : rows(row);
  });
  const fitted = fitting(config, limit);
  const rows = ruledRows('axolotl', (row, from) =>
    fitted((making[from] ?? making[0] ?? (() => ({ shapes: [] })))(row)),
  );
  return {
    settings: {
      tokenizer,
      shapes: rows.shapes,
      ...(writer === undefined ? {} : { writer }),
      ...(values.excess_length_strategy === 'truncate'
        ? { maxLength: limit, truncationSide: 'right' as const }
        : {}),
    },
    faults,
    after: () => {
      const { faults: seenLater, ...rest } = rows.after(config);
      return { ...rest, faults: [...seenLater, ...unusedFlags(config, own, used)] };
    },
  };
}

// --- helpers ---

/** Rows with all of these are taken as they are. */
const TOKENISED = ['input_ids', 'attention_mask', 'labels'];

/** The tokenizer with the special tokens that the configuration names. */
function specialised({ values, name }: ConfigFile, tokenizer: Tokenizer): Tokenizer | Problem {
  const { special_tokens: special, tokens } = values;
  const named: [string, string][] = isJsonObject(special)
    ? Object.entries(special).flatMap(([key, value]): [string, string][] =>
        (Array.isArray(value) ? value : [value]).flatMap((each): [string, string][] =>
          typeof each === 'string' ? [[key, each]] : [],
        ),
      )
    : [];
  const all = [...named.map(([, each]) => each), ...(Array.isArray(tokens) ? tokens.map(textOf) : [])];
  const added = all.find((each) => tokenizer.tokenId(each) === undefined);
  if (added !== undefined)
    return { problem: `${name} adds the token ${added} to the tokenizer; view does not make such rows` };
  let made = tokenizer;
  for (const [key, each] of named) {
    const id = tokenizer.tokenId(each);
    if (id === undefined) continue;
    if (key === 'eos_token') made = { ...made, eosTokenId: id };
    if (key === 'bos_token') made = { ...made, bosTokenId: id };
    if (key === 'pad_token') made = { ...made, padTokenId: id };
  }
  return made;
}

/** A template that lies in axolotl's folder alone. */
function unread(
  template: Named,
  own: string | undefined,
  { templates, trainer, version }: Known,
): Problem | undefined {
  // That of jinja is missing, which is said of the setting.
  if ('jinja' in template || ['chatml', 'jinja'].includes(template.name)) return undefined;
  const { name } = template;
  const fallback = /^tokenizer_default_fallback_(.+)$/.exec(name);
  if (name === 'tokenizer' || fallback !== null)
    return own === undefined
      ? {
          problem: `the tokenizer has no chat template${fallback === null ? ', and axolotl stops: set chat_template' : `: name that of ${fallback[1]} with --template`}`,
        }
      : undefined;
  if (templates[name] !== true) {
    const near = nearest(name, Object.keys(templates));
    return {
      problem: `${trainer} ${version} has no chat_template ${name}${near === undefined ? '' : `; is ${near} meant?`}`,
    };
  }
  return {
    problem: `chat_template ${name} lies in axolotl's own folder, axolotl/utils/chat_templates/templates/${name}.jinja in Python's site-packages: name it with --template`,
  };
}

function columnFaults(
  config: ConfigFile,
  { part, kind, given }: DatasetEntry,
  columns: ReadonlySet<string> | undefined,
): SettingFault[] {
  if (columns === undefined || columns.size === 0 || TOKENISED.every((key) => columns.has(key))) return [];
  const [key, name] =
    kind === 'chat_template'
      ? ['field_messages', textOf(given.field_messages ?? 'messages')]
      : kind === 'completion'
        ? ['field', textOf(given.field ?? 'text')]
        : kind === 'alpaca'
          ? ['type', 'instruction']
          : ['type', 'segments'];
  if (columns.has(name)) return [];
  const near = nearest(name, [...columns]);
  const meant =
    near === undefined ? ` The rows have ${[...columns].slice(0, SHOWN).join(', ')}.` : ` Is ${near} meant?`;
  return [faultOf(config, `${part}.${key}`, `axolotl stops: no row has the column ${name}.${meant}`)];
}

/** Names of columns in a sentence. */
const SHOWN = 6;

/** Tokens that end a turn, and are trained only if the template writes them. */
function turnEnds(
  config: ConfigFile,
  own: readonly ChatEntry[],
  template: string,
  tokenizer: Tokenizer,
): SettingFault[] {
  const eos = tokenizer.token(tokenizer.eosTokenId ?? -1);
  const { eot_tokens: given } = config.values;
  const tokens = Array.isArray(given) ? given.map(textOf) : [];
  const faults: SettingFault[] = [];
  const alone = tokens.length === 1 && tokens[0] === eos;
  for (const token of alone ? [] : tokens) {
    if (!template.includes(token))
      faults.push(
        faultOf(
          config,
          'eot_tokens',
          `${written(token)} does nothing: the chat template does not write it, and axolotl leaves it out.`,
        ),
      );
    else if (tokenizer.encode(token).length !== 1)
      faults.push(
        faultOf(config, 'eot_tokens', `axolotl stops: ${written(token)} is not one token of this tokenizer.`),
      );
  }
  for (const { part, eos: train, eot } of own)
    if (!alone && eos !== undefined && tokens.includes(eos) && template.includes(eos) && train !== eot)
      faults.push(
        faultOf(
          config,
          `${part}.train_on_eot`,
          `axolotl stops: ${eos} is among eot_tokens, and train_on_eot is not train_on_eos.`,
        ),
      );
  const writes = eos !== undefined && (template.includes(eos) || template.includes('eos_token'));
  if (tokens.length === 0 && !writes)
    faults.push(
      faultOf(
        config,
        'eot_tokens',
        `It is not set, and the chat template does not write the EOS token ${eos ?? '(none)'}: no end of a turn is trained.`,
      ),
    );
  return faults;
}

/** Fields of messages that are named, and that no message has. */
function unusedFlags(
  config: ConfigFile,
  own: readonly ChatEntry[],
  used: ReadonlySet<string>,
): SettingFault[] {
  return own.flatMap(({ part, training }) =>
    training === undefined || used.has(training)
      ? []
      : [faultOf(config, `${part}.message_field_training`, `It does nothing: no message has ${training}.`)],
  );
}

/** What becomes of a row by its length, before rows are packed. */
function fitting({ values }: ConfigFile, limit: number): (made: Ruled) => Ruled {
  const { excess_length_strategy: strategy, min_sample_len: least, sample_packing: packing } = values;
  const key = strategy === undefined || strategy === null ? 'sequence_len' : 'excess_length_strategy';
  const minimum = typeof least === 'number' && least > 0 ? least : LEAST;
  const one = (row: Tokens): Ruled => {
    if (row.ids.length > limit && strategy === 'raise')
      return {
        stops: `it has ${row.ids.length} tokens, sequence_len is ${limit}, and excess_length_strategy is raise`,
      };
    if (row.ids.length > limit && strategy !== 'truncate') return { filtered: key };
    if (row.ids.length < minimum)
      return least === undefined
        ? { leftOut: `it has less than ${LEAST} tokens` }
        : { filtered: 'min_sample_len' };
    if (packing === true && !row.trained.slice(0, limit).includes(true))
      return { leftOut: 'no token of it is trained, and sample_packing drops such rows' };
    return row;
  };
  return (made) => {
    if ('ids' in made) return one(made);
    if (!('rows' in made)) return made;
    return { rows: made.rows.filter((row) => 'ids' in one(row)) };
  };
}

/** min_sample_len where nobody sets it. */
const LEAST = 2;
