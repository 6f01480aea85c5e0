// The data sets of a configuration of torchtune: one, or a list of them, each a function with its arguments.
import { extname } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import { keyFaults, nearest, textOf, written } from '../keys.ts';
import type { Keys, Known } from '../known.ts';
import type { Host } from '../plan.ts';
import { isComputed } from '../shell.ts';
import { SET_KINDS, type SetKind, type TuneSet } from './messages.ts';

export interface NamedSet {
  readonly set: TuneSet;
  readonly files: readonly string[];
  readonly packed: boolean;
}

export interface Sets {
  readonly named: readonly NamedSet[];
  readonly read: readonly string[];
  readonly faults: readonly SettingFault[];
}

export function setsOf(config: ConfigFile, known: Known, host: Host): Sets | Problem {
  const given = config.values.dataset;
  if (given === undefined || given === null)
    return { problem: `${config.name} has no dataset: name the configuration of a recipe that trains` };
  const list = Array.isArray(given) ? given : [given];
  const made: (NamedSet & Pick<Sets, 'read' | 'faults'>)[] = [];
  for (const [at, each] of list.entries()) {
    const part = Array.isArray(given) ? `dataset[${at}]` : 'dataset';
    const one = isJsonObject(each) ? setOf({ config, known, host }, part, each) : undefined;
    if (one === undefined)
      return {
        problem: `${part} of ${config.name} is ${written(each ?? null)}, and not a data set with _component_`,
      };
    if ('problem' in one) return one;
    made.push(one);
  }
  if (made.length === 0) return { problem: `dataset of ${config.name} is an empty list` };
  return {
    named: made,
    read: made.flatMap(({ read }) => read),
    faults: made.flatMap(({ faults }) => faults),
  };
}

// --- helpers ---

interface Around {
  readonly config: ConfigFile;
  readonly known: Known;
  readonly host: Host;
}

const BEFORE = 'torchtune.datasets.';
const GO_ON = 'write the rows to a file, and name it: lossproof view rows.jsonl --config FILE';
const READ = [
  '_component_',
  'source',
  'data_files',
  'conversation_column',
  'conversation_style',
  'column',
  'column_map',
  'train_on_input',
  'new_system_prompt',
  'add_eos',
  'packed',
  'split',
];
/** Arguments of load_dataset that choose or change rows. */
const CHOOSING = ['name', 'data_dir', 'features', 'field', 'streaming', 'columns', 'filters'];

function setOf(
  { config, known, host }: Around,
  part: string,
  given: JsonObject,
): (NamedSet & Pick<Sets, 'read' | 'faults'>) | Problem {
  const component = textOf(given._component_);
  const named = component.startsWith(BEFORE) ? component.slice(BEFORE.length) : '';
  // The same with another data set of the Hub as its default.
  const kind = SET_KINDS.find((each) => each === named.replace(/^alpaca_cleaned_/, 'alpaca_'));
  if (kind === undefined) {
    const near = nearest(named, SET_KINDS);
    return {
      problem: `${part}._component_ ${component} is none whose rows view makes${near === undefined ? `, and view runs no code of yours: it knows ${SET_KINDS.join(', ')}. Look at its rows with \`lossproof trace\`` : `. Is ${BEFORE}${near} meant?`}`,
    };
  }
  const own = known.parts[kind] ?? {};
  const value = (key: string): unknown => (given[key] === undefined ? own[key]?.default : given[key]);
  const computed = READ.find((key) => isComputed(textOf(given[key] ?? '')));
  if (computed !== undefined)
    return {
      problem: `${part}.${computed} is ${written(given[computed])}, which only the run knows: write the value itself`,
    };
  const choosing = CHOOSING.find(
    (key) => given[key] !== undefined && given[key] !== null && given[key] !== false,
  );
  if (choosing !== undefined && !host.dataTyped)
    return { problem: `${part}.${choosing} chooses or changes rows, which view does not; ${GO_ON}` };
  const files = host.dataTyped ? [] : filesOf(part, value, host);
  if ('problem' in files) return files;
  const columns = columnsOf(kind, value);
  const style = textOf(value('conversation_style') ?? '');
  const stops = stopOf(kind, given, columns, style);
  const system = value('new_system_prompt');
  const set: TuneSet = {
    part,
    kind,
    style,
    columns,
    // Any text is true, as "False".
    trainsInput: Boolean(value('train_on_input')),
    addsEos: Boolean(value('add_eos')),
    ...(typeof system === 'string' && TAKES_SYSTEM.includes(kind) ? { system } : {}),
    ...(stops === undefined ? {} : { stops: stops.why }),
  };
  const read = READ.filter((key) => given[key] !== undefined && given[key] !== null).map(
    (key) => `${part}.${key} ${written(given[key])}`,
  );
  return {
    set,
    files,
    packed: Boolean(value('packed')),
    read:
      kind === 'alpaca_dataset' && given.train_on_input === undefined
        ? [...read, `${part}.train_on_input true (its default in alpaca_dataset)`]
        : read,
    faults: [
      ...argumentFaults(config, { part, given, own, known, kind }),
      ...(stops === undefined
        ? []
        : [
            faultOf(
              config,
              `${part}.${stops.key}`,
              `torchtune stops: ${stops.why}.${stops.near === undefined ? '' : ` Is ${stops.near} meant?`}`,
            ),
          ]),
      ...idleFaults(config, set, given),
    ],
  };
}

const TAKES_SYSTEM: readonly SetKind[] = ['chat_dataset', 'instruct_dataset', 'preference_dataset'];
/** What a column_map may name, and what it has to. */
const MAPPED: Readonly<
  Record<string, { readonly all: readonly string[]; readonly needed: readonly string[] }>
> = {
  instruct_dataset: { all: ['input', 'output', 'image'], needed: ['input', 'output'] },
  alpaca_dataset: { all: ['instruction', 'input', 'output'], needed: [] },
  preference_dataset: { all: ['chosen', 'rejected'], needed: ['chosen', 'rejected'] },
};

function columnsOf(kind: SetKind, value: (key: string) => unknown): Readonly<Record<string, string>> {
  if (kind === 'text_completion_dataset') return { text: textOf(value('column')) };
  if (kind === 'chat_dataset') {
    const column = value('conversation_column');
    return typeof column === 'string' ? { conversations: column, messages: column } : {};
  }
  const { all = [] } = MAPPED[kind] ?? {};
  const map = value('column_map');
  return isJsonObject(map) && (kind === 'instruct_dataset' || Object.keys(map).length > 0)
    ? Object.fromEntries(all.flatMap((name) => (Object.hasOwn(map, name) ? [[name, textOf(map[name])]] : [])))
    : Object.fromEntries(all.filter((each) => each !== 'image').map((each) => [each, each]));
}

/** Why the function ends with an error before it has a row. */
function stopOf(
  kind: SetKind,
  given: JsonObject,
  columns: Readonly<Record<string, string>>,
  style: string,
): { readonly key: string; readonly why: string; readonly near?: string } | undefined {
  const { needed = [] } = MAPPED[kind] ?? {};
  const missing = isJsonObject(given.column_map)
    ? needed.find((each) => !Object.hasOwn(columns, each))
    : undefined;
  if (missing !== undefined) {
    const names = Object.keys(given.column_map as JsonObject).filter((each) => !needed.includes(each));
    const slip = names.find((each) => nearest(each, [missing]) !== undefined);
    return {
      key: 'column_map',
      why: `column_map names no column for ${missing}${slip === undefined ? '' : `, and one for ${slip}`}`,
    };
  }
  if (kind === 'preference_dataset' && given.packed)
    return { key: 'packed', why: 'preference data sets are not packed' };
  if (kind !== 'chat_dataset') return undefined;
  if (columns.messages === undefined)
    return { key: 'conversation_column', why: 'conversation_column is not set' };
  if (STYLES.includes(style)) return undefined;
  const near = nearest(style, STYLES);
  return {
    key: 'conversation_style',
    why: `conversation_style ${written(style)} is none of ${STYLES.join(', ')}`,
    ...(near === undefined ? {} : { near }),
  };
}

const STYLES = ['sharegpt', 'openai'];

function argumentFaults(
  config: ConfigFile,
  {
    part,
    given,
    own,
    known,
    kind,
  }: {
    readonly part: string;
    readonly given: JsonObject;
    readonly own: Keys;
    readonly known: Known;
    readonly kind: SetKind;
  },
): SettingFault[] {
  const { _component_: _, filter_fn: filter, ...judged } = given;
  const within = <V>(keys: Readonly<Record<string, V>>): Record<string, V> =>
    Object.fromEntries(Object.entries(keys).map(([key, value]) => [`${part}.${key}`, value]));
  const faults = keyFaults(
    { ...config, values: within(judged), twice: [] },
    { ...known, keys: within({ ...known.parts.load_dataset, ...own }) },
    {
      unknown: `${kind} passes it to load_dataset, which stops the run`,
      text: 'kept',
      twice: '',
    },
  );
  return filter === undefined || filter === null
    ? faults
    : [
        ...faults,
        faultOf(config, `${part}.filter_fn`, 'torchtune stops: a configuration names no functions.'),
      ];
}

function idleFaults(config: ConfigFile, { part, kind, stops }: TuneSet, given: JsonObject): SettingFault[] {
  const faults: SettingFault[] = [];
  const say = (key: string, sentence: string, level: 'fault' | 'note' = 'fault'): void => {
    faults.push(faultOf(config, `${part}.${key}`, sentence, level));
  };
  const { all = [] } = MAPPED[kind] ?? {};
  if (isJsonObject(given.column_map) && stops === undefined)
    for (const name of Object.keys(given.column_map).filter((each) => !all.includes(each))) {
      const near = nearest(name, all);
      say(
        `column_map.${name}`,
        `It does nothing: ${kind} asks for ${all.join(', ')} alone.${near === undefined ? '' : ` Is ${near} meant?`}`,
      );
    }
  if (given.split_across_pack !== undefined && !given.packed)
    say('split_across_pack', 'It does nothing: packed is off.');
  if (kind === 'alpaca_dataset' && given.train_on_input === undefined)
    say(
      'train_on_input',
      'It is not set, and alpaca_dataset then trains the prompt as well: set it to false or true.',
      'note',
    );
  const split = splitIn(given);
  if (split.part)
    say('split', 'It was not applied: all rows are shown, and the run reads a part of them.', 'note');
  else if (!isJsonObject(given.data_files) && split.name !== 'train')
    say('split', `torchtune stops: a file has the split train alone, and not ${written(given.split)}.`);
  return faults;
}

/** `train[:10%]` is a part of train. */
function splitIn({ split = 'train' }: JsonObject): { readonly name: string; readonly part: boolean } {
  const [name = '', part] = textOf(split ?? 'train').split('[');
  return { name, part: part !== undefined };
}

const KIND_OF_FILE: Readonly<Record<string, readonly string[]>> = {
  json: ['.json', '.jsonl', '.gz', '.zst', '.txt', ''],
  parquet: ['.parquet'],
};

function filesOf(part: string, value: (key: string) => unknown, host: Host): readonly string[] | Problem {
  const source = textOf(value('source') ?? '');
  const endings = Object.hasOwn(KIND_OF_FILE, source) ? KIND_OF_FILE[source] : undefined;
  if (endings === undefined)
    return {
      problem: `${part}.source is ${written(source)}, and view reads json and parquet with data_files, and nothing from the Hub; ${GO_ON}`,
    };
  const given = value('data_files');
  const own = isJsonObject(given) ? given[splitIn({ split: value('split') }).name] : given;
  const names = (Array.isArray(own) ? own : [own]).filter(
    (each): each is string => typeof each === 'string' && each !== '',
  );
  if (names.length === 0)
    return { problem: `${part}.data_files ${written(given ?? null)} names no file; ${GO_ON}` };
  const missing = names.find((name) => host.kindOf(name) !== 'file');
  if (missing !== undefined)
    return {
      problem: `${part}.data_files: there is no file ${missing}, from where view was started; ${GO_ON}`,
    };
  const other = names.find((name) => !endings.includes(extname(name)));
  return other === undefined
    ? names
    : {
        problem: `${part}.source is ${source}, and ${part}.data_files names ${other}, which torchtune does not read as such`,
      };
}
