// Entries of `datasets`: which files they name, how their rows are written, and which of their keys do nothing. Source:
// axolotl/utils/schemas/datasets.py, axolotl/utils/data/shared.py and wrappers.py of the version in known/axolotl.json.
import { extname, join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import { partFaults, textOf, written } from '../keys.ts';
import type { Known } from '../known.ts';
import type { Host } from '../plan.ts';

/** Kinds of rows that these rules make. */
const KINDS = ['chat_template', 'completion', 'alpaca', 'input_output'] as const;
export type Kind = (typeof KINDS)[number];

export interface DatasetEntry {
  /** Its name in the sentence, as `datasets[0]`. */
  readonly part: string;
  readonly file: string;
  readonly kind: Kind;
  readonly given: JsonObject;
}

export interface Entries {
  readonly entries: readonly DatasetEntry[];
  readonly faults: readonly SettingFault[];
}

export function entriesOf(config: ConfigFile, known: Known, host: Host): Entries | Problem {
  const { datasets } = config.values;
  if (datasets === undefined || datasets === null) return { entries: [], faults: [] };
  // One alone may stand without its list.
  const list = Array.isArray(datasets) ? datasets : [datasets];
  const entries: DatasetEntry[] = [];
  const faults: SettingFault[] = [];
  for (const [at, given] of list.entries()) {
    const part = `datasets[${at}]`;
    if (!isJsonObject(given)) return { problem: `${part} of ${config.name} is not a mapping` };
    const kind = kindOf(given, part);
    if (typeof kind !== 'string') return kind;
    const files = host.dataTyped ? ['typed'] : filesOf(given, part, host);
    if ('problem' in files) return files;
    entries.push(...files.map((file) => ({ part, file, kind, given })));
    faults.push(...keysOf(config, part, given, kind, known));
  }
  return { entries, faults };
}

// --- helpers ---

const GO_ON = 'write the rows to a file, and name it: lossproof view rows.jsonl --config FILE';

function kindOf({ type }: JsonObject, part: string): Kind | Problem {
  const kind = KINDS.find((each) => each === type);
  if (kind !== undefined) return kind;
  // Rows of ids are taken as they are, whatever the type.
  if (type === undefined || type === null || type === '') return 'input_output';
  return {
    problem: `${part} is of type ${isJsonObject(type) ? '(a mapping of your own)' : textOf(type)}, whose rows view does not make: it makes those of ${KINDS.join(', ')}`,
  };
}

function filesOf(given: JsonObject, part: string, host: Host): readonly string[] | Problem {
  const { path, split, data_files: files, shards, ds_type: builder } = given;
  if (typeof path !== 'string') return { problem: `${part} names no path` };
  if (shards !== undefined && shards !== null)
    return { problem: `${part} takes a shard of the rows, which view does not; ${GO_ON}` };
  if (typeof split === 'string' && /[[+]/.test(split))
    return { problem: `${part} takes a part of a split (${split}), which view does not; ${GO_ON}` };
  if (typeof builder === 'string' && !['json', 'parquet'].includes(builder))
    return { problem: `${part} has ds_type ${builder}; view reads json and parquet; ${GO_ON}` };
  const named =
    files === undefined || files === null ? [] : Array.isArray(files) ? files.map(textOf) : [textOf(files)];
  const kind = host.kindOf(path);
  if (kind === 'file') return [path];
  if (named.length > 0 && named.every((each) => host.kindOf(each) === 'file')) return named;
  if (kind === 'folder') {
    const names = host
      .namesIn(path)
      .filter((name) => ['.json', '.jsonl', '.parquet'].includes(extname(name)));
    const own = names.filter((name) =>
      name.split(/[-_.]/).includes(typeof split === 'string' ? split : 'train'),
    );
    const [only] = own.length === 1 ? own : names.length === 1 ? names : [];
    return only === undefined
      ? { problem: `${part}: in ${path} it is not clear which file is meant; ${GO_ON}` }
      : [join(path, only)];
  }
  return { problem: `${part}: ${path} is no file here, and view downloads nothing; ${GO_ON}` };
}

/** Keys of a conversation, which other kinds of rows do not read. */
const OF_CHAT = [
  'roles_to_train',
  'train_on_eos',
  'train_on_eot',
  'field_messages',
  'message_property_mappings',
  'message_field_role',
  'message_field_content',
  'message_field_training',
  'message_field_training_detail',
  'roles',
  'drop_system_message',
  'chat_template',
  'chat_template_jinja',
  'split_thinking',
];

function keysOf(
  config: ConfigFile,
  part: string,
  given: JsonObject,
  kind: Kind,
  known: Known,
): SettingFault[] {
  const keys = known.parts.datasets ?? {};
  const { trainer, version } = known;
  const faults: SettingFault[] = partFaults(config, { part, given, keys, trainer }).map((fault) => {
    const name = fault.key.slice(part.length + 1);
    // A key of the file has no other meaning within an entry.
    return Object.hasOwn(known.keys, name) && !/^_/.test(name)
      ? faultOf(
          config,
          fault.key,
          `It does nothing here: ${name} is a key of the file, not of an entry of datasets.`,
        )
      : fault;
  });
  const say = (key: string, sentence: string): void => {
    faults.push(faultOf(config, `${part}.${key}`, sentence));
  };
  const chat = kind === 'chat_template';
  if (!chat)
    for (const key of OF_CHAT)
      if (isGiven(given[key]))
        say(key, `It does nothing: rows of type ${textOf(given.type)} are no conversations.`);
  if (kind !== 'completion' && isGiven(given.field))
    say('field', 'It does nothing: only type completion reads it.');
  if (chat && isGiven(given.field_tools) && given.field_tools !== 'tools')
    say(
      'field_tools',
      `It does nothing: ${trainer} ${version} never passes it on, and reads the column tools.`,
    );
  for (const key of ['train_on_eos', 'train_on_eot'] as const) {
    const choices = keys[key]?.choices ?? [];
    if (chat && isGiven(given[key]) && !choices.includes(textOf(given[key])))
      say(
        key,
        `${written(given[key])} is none of ${choices.join(', ')}: axolotl drops it without a word, and perhaps other keys of the entry as well.`,
      );
  }
  if (chat && given.chat_template === 'jinja' && !isGiven(given.chat_template_jinja))
    say('chat_template', 'axolotl stops: jinja needs chat_template_jinja.');
  return faults;
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
