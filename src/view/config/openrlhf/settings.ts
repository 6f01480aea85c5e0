// Configurations of OpenRLHF: a script that starts its SFT or PPO trainer with options, or a file of such options. Source:
// openrlhf/cli/train_sft.py, train_ppo_ray.py and openrlhf/datasets of the version in known/openrlhf.json.
import { extname } from 'node:path';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf, flattened } from '../file.ts';
import { keyFaults, textOf, written } from '../keys.ts';
import { type Keys, type Known, knownOf } from '../known.ts';
import type { Host, Plan, Reader } from '../plan.ts';
import { isComputed } from '../shell.ts';
import { openOpenRlhf } from './open.ts';
import type { RlhfSettings, Way } from './rows.ts';

export const openrlhf: Reader = { known: 'openrlhf', plan };

// --- helpers ---

const COMMANDS = {
  sft: {
    word: 'openrlhf.cli.train_sft',
    model: 'model.model_name_or_path',
    data: 'data.dataset',
    split: 'data.dataset_split',
  },
  ppo: {
    word: 'openrlhf.cli.train_ppo_ray',
    model: 'actor.model_name_or_path',
    data: 'data.prompt_dataset',
    split: 'data.prompt_split',
  },
} as const satisfies Record<Way, unknown>;

/** Names of before 0.11, where the last part is another word. */
const OLDER: Readonly<Record<string, string>> = {
  pretrain: 'model_name_or_path',
  prompt_data: 'data.prompt_dataset',
  train_split: 'data.dataset_split',
  pretrain_mode: 'model.pretrain_mode_enable',
};

function plan(given: ConfigFile, host: Host): Plan | Problem {
  const known = knownOf('openrlhf');
  const way = wayOf(given, known);
  if (typeof way !== 'string') return way;
  const { word, model, data, split } = COMMANDS[way];
  const keys = known.parts[way] ?? {};
  const named = namedAnew(given, keys, model);
  const { config } = named;
  const { values } = config;
  // An option of the other trainer stops this one, and has no further effect.
  const value = (key: string): unknown =>
    !Object.hasOwn(keys, key) ? undefined : Object.hasOwn(values, key) ? values[key] : keys[key]?.default;
  const computed = [...READ, data, model].find((key) => isComputed(textOf(values[key] ?? '')));
  if (computed !== undefined && !(host.dataTyped && computed === data))
    return {
      problem: `${computed} is ${written(values[computed])}, which only the shell that starts the training knows: write the value itself`,
    };
  const files = host.dataTyped ? { names: [] } : filesOf(value(data), host, data);
  if ('problem' in files) return files;
  const most = numberIn(value('data.max_samples'));
  const limit = numberIn(value('data.max_len'));
  if (limit === undefined)
    return { problem: `data.max_len ${written(value('data.max_len'))} is not a length` };
  const settings: RlhfSettings = {
    way,
    inputKey: textOf(value('data.input_key')),
    outputKey: nameOf(value('data.output_key')),
    labelKey: nameOf(value('data.label_key')),
    chat: isOn(value('data.apply_chat_template')),
    multiturn: isOn(value('data.multiturn')),
    pretrain: isOn(value('model.pretrain_mode_enable')),
    inputTemplate: templateIn(value('data.input_template')),
    limit,
    ...(most === undefined ? {} : { most }),
  };
  const own = value('data.tokenizer_chat_template');
  const folder = value(model);
  const read = [...READ, data, model]
    .filter((key) => values[key] !== undefined)
    .map((key) => `${key} ${written(values[key])}`);
  if (values['data.max_len'] === undefined) read.push(`data.max_len ${limit} (OpenRLHF's default)`);
  return {
    title: `${known.trainer} ${known.version} (${word})`,
    data: files.names,
    ...(typeof folder === 'string' ? { tokenizer: folder } : {}),
    ...(typeof own === 'string' && settings.chat ? { template: { source: own } } : {}),
    read,
    faults: [
      ...named.faults,
      ...optionFaults(config, known, keys, named.older),
      ...combinations(config, settings, { value, split }),
    ],
    open: (seen) => openOpenRlhf(config, settings, seen),
  };
}

const READ = [
  'data.input_key',
  'data.output_key',
  'data.label_key',
  'data.apply_chat_template',
  'data.input_template',
  'data.tokenizer_chat_template',
  'data.multiturn',
  'data.max_len',
  'data.max_samples',
  'model.pretrain_mode_enable',
  'ds.packing_samples',
];

function wayOf({ name, values, command }: ConfigFile, known: Known): Way | Problem {
  if (command !== undefined) {
    const way = (['sft', 'ppo'] as const).find((each) => COMMANDS[each].word === command.word);
    return (
      way ?? {
        problem: `view reads ${COMMANDS.sft.word} and ${COMMANDS.ppo.word} of ${known.trainer}; ${name} starts ${command.word}`,
      }
    );
  }
  const keys = Object.keys(flattened(values));
  const of = (way: Way): number => keys.filter((key) => Object.hasOwn(known.parts[way] ?? {}, key)).length;
  return of('sft') === of('ppo')
    ? { problem: `it is not clear whether ${name} is of OpenRLHF's SFT or PPO trainer` }
    : of('sft') > of('ppo')
      ? 'sft'
      : 'ppo';
}

interface Named {
  readonly config: ConfigFile;
  readonly older: boolean;
  readonly faults: readonly SettingFault[];
}

/** Options by their whole names: argparse takes the beginning of one, and older versions had no parts. */
function namedAnew(given: ConfigFile, keys: Keys, model: string): Named {
  const flat = flattened(given.values);
  const names = Object.keys(keys);
  const values: Record<string, unknown> = {};
  const lines = new Map(given.lines);
  let older: string | undefined;
  for (const [key, value] of Object.entries(flat)) {
    const begun = Object.hasOwn(keys, key) ? [key] : names.filter((name) => name.startsWith(key));
    const moved = names.filter(
      (name) => name.endsWith(`.${key}`) && !/^(?:eval|critic|ref|reward)\./.test(name),
    );
    const named =
      OLDER[key] === 'model_name_or_path'
        ? model
        : (OLDER[key] ?? (moved.length === 1 ? moved[0] : undefined));
    const own = begun.length === 1 ? begun[0] : key.includes('.') ? undefined : named;
    if (own !== undefined && begun.length !== 1) older ??= key;
    values[own ?? key] = value;
    const line = given.lines.get(key);
    if (own !== undefined && line !== undefined) lines.set(own, line);
  }
  return {
    config: { ...given, values, lines },
    older: older !== undefined,
    faults:
      older === undefined
        ? []
        : [
            faultOf(
              given,
              older,
              'Options without a part in front are those of OpenRLHF before 0.11, and 0.11.2 stops at them; they are read by their new names.',
              'note',
            ),
          ],
  };
}

function optionFaults(config: ConfigFile, known: Known, keys: Keys, older: boolean): SettingFault[] {
  const faults: SettingFault[] = [];
  for (const [key, value] of Object.entries(config.values))
    if (keys[key]?.kinds[0] === 'bool' && typeof value !== 'boolean')
      faults.push(
        faultOf(config, key, `OpenRLHF stops: the option takes no value, and ${written(value)} follows it.`),
      );
    else if (keys[key]?.kinds[0] === 'int' && numberIn(value) === undefined && !/^-?\d+$/.test(textOf(value)))
      faults.push(faultOf(config, key, `OpenRLHF stops: ${written(value)} is not a whole number.`));
  const judged = Object.fromEntries(
    // Of an older version the other options are not known.
    Object.entries(config.values).filter(
      ([key]) => !Object.hasOwn(keys, key) && !(older && !key.includes('.')),
    ),
  );
  return [
    ...faults,
    ...keyFaults(
      { ...config, values: judged },
      { ...known, keys },
      {
        unknown: 'argparse stops the run',
        text: 'converted',
        twice: 'argparse takes the last and says nothing',
      },
    ),
  ];
}

function combinations(
  config: ConfigFile,
  settings: RlhfSettings,
  { value, split }: { readonly value: (key: string) => unknown; readonly split: string },
): SettingFault[] {
  const { way, chat, multiturn, pretrain, outputKey } = settings;
  const faults: SettingFault[] = [];
  const say = (key: string, sentence: string, level: 'fault' | 'note' = 'fault'): void => {
    faults.push(faultOf(config, key, sentence, level));
  };
  const given = (key: string): boolean => Object.hasOwn(config.values, key);
  const template = value('data.input_template');
  if (given('data.input_template') && pretrain)
    say('data.input_template', 'It does nothing: pretrain_mode_enable trains the text as it is.');
  else if (given('data.input_template') && chat)
    say('data.input_template', 'It does nothing: with apply_chat_template, the chat template is used.');
  else if (given('data.input_template') && !textOf(template).includes('{}'))
    say(
      'data.input_template',
      `It does nothing: OpenRLHF drops it, as ${written(template)} has no {} for the question.`,
    );
  else if (given('data.input_template') && textOf(template).includes('\\n'))
    say(
      'data.input_template',
      "It has a backslash and an n, not a line break: in Bash, $'...\\n' writes one.",
      'note',
    );
  if (given('data.tokenizer_chat_template') && !chat && way === 'sft')
    say('data.tokenizer_chat_template', 'It does nothing: apply_chat_template is off.');
  if (way === 'sft') {
    if (multiturn && !chat) say('data.multiturn', 'OpenRLHF stops: multiturn needs apply_chat_template.');
    else if (multiturn && outputKey !== undefined)
      say(
        'data.output_key',
        'OpenRLHF stops: with multiturn, the whole conversation belongs under input_key.',
      );
    else if (!pretrain && !chat && outputKey === undefined)
      say(
        'data.output_key',
        'It is not set, and apply_chat_template is off: OpenRLHF finds no answers, and leaves out every row.',
      );
    if (pretrain && chat)
      say('data.apply_chat_template', 'It does nothing: pretrain_mode_enable trains the text as it is.');
    if (pretrain && outputKey !== undefined)
      say('data.output_key', 'It does nothing: pretrain_mode_enable trains input_key alone.');
  }
  if (given(split) && textOf(value(split)) !== 'train')
    say(split, `OpenRLHF stops: a file has the split train alone, and not ${written(value(split))}.`);
  for (const key of ['data.dataset_probs', 'data.prompt_probs'])
    if (given(key)) say(key, 'It was not applied: all rows are shown, one data set after the other.', 'note');
  return faults;
}

const GO_ON = 'write the rows to a file, and name it: lossproof view rows.jsonl --config FILE';

function filesOf(given: unknown, host: Host, key: string): { readonly names: readonly string[] } | Problem {
  if (typeof given !== 'string' || given === '') return { problem: `${key} names no data set; ${GO_ON}` };
  const names = given.split(',').map((each) => each.trim());
  const other = names.find(
    (name) => !['.json', '.jsonl', '.parquet'].includes(extname(name)) || name.includes('@'),
  );
  if (other !== undefined)
    return {
      problem: `${key} ${other} is no file of JSON lines or Parquet, and view downloads nothing; ${GO_ON}`,
    };
  const missing = names.find((name) => !isComputed(name) && host.kindOf(name) !== 'file');
  return missing === undefined
    ? { names }
    : { problem: `${key}: there is no file ${missing}, from where view was started; ${GO_ON}` };
}

const isOn = (value: unknown): boolean => value !== undefined && value !== null && value !== false;
const nameOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

/** One without a place for the question is dropped. */
function templateIn(value: unknown): string | undefined {
  return typeof value === 'string' && value.includes('{}') ? value : undefined;
}

function numberIn(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
