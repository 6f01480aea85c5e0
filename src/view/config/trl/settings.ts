// Configurations of `trl sft --config FILE`: which data, tokenizer and template they name, and which of their settings stop
// TRL or do nothing. Source: trl/scripts/sft.py, trl/scripts/utils.py and trl/trainer/sft_trainer.py of the version in
// known/trl.json.
import { extname, join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../../outside/decoded.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import type { Read } from '../installed.ts';
import { keyFaults, partFaults, textOf, written } from '../keys.ts';
import { type Keys, knownOf } from '../known.ts';
import type { Host, Plan, Reader } from '../plan.ts';
import { openTrl } from './open.ts';
import type { TrlSettings } from './shapes.ts';

export const trl: Reader = { known: 'trl', plan };

// --- helpers ---

function plan(config: ConfigFile, host: Host): Plan | Problem {
  const known = knownOf('trl');
  const { values } = config;
  const faults = keyFaults(config, known, {
    unknown: '`trl sft` passes it to accelerate, which stops the run',
    text: 'converted',
    twice: 'TRL takes the last and says nothing',
  });
  const data = dataOf(config, host);
  if ('problem' in data) return data;
  faults.push(...data.faults);
  const settings = settingsOf(values, known.keys, data.columns);
  if ('problem' in settings) return settings;
  faults.push(...combinations(config, settings));
  const { model_name_or_path: model, chat_template_path: path } = values;
  const template = typeof path === 'string' ? templateOf(path, host) : undefined;
  if (template !== undefined && 'problem' in template) return template;
  const named = READ.filter((key) => !(host.dataTyped && /^datasets?(?:_name)?$/.test(key)));
  const read = named
    .filter((key) => values[key] !== undefined && values[key] !== null)
    .map((key) => `${key} ${written(values[key])}`);
  if (values.max_length === undefined) read.push(`max_length ${settings.maxLength} (TRL's default)`);
  return {
    title: `${known.trainer} ${known.version} (trl sft)`,
    data: data.files,
    ...(typeof model === 'string' ? { tokenizer: model } : {}),
    ...(template === undefined ? {} : { template }),
    read,
    faults,
    compared: comparedBy(settings),
    open: (seen) => openTrl(config, settings, seen, known),
  };
}

/** As the fields of SFTConfig have them. */
const comparedBy = (settings: TrlSettings): Read => ({
  values: {
    max_length: settings.maxLength,
    truncation_mode: settings.keepEnd ? 'keep_end' : 'keep_start',
    packing: settings.packing,
    packing_strategy: settings.strategy,
    completion_only_loss: settings.completionOnly,
    assistant_only_loss: settings.assistantOnly,
    dataset_text_field: settings.textField,
  },
  ids: ['model_name_or_path', 'chat_template_path', 'eos_token', 'dataset_text_field'],
  cut: ['max_length', 'truncation_mode', 'packing_strategy'],
  end: ['eos_token', 'chat_template_path'],
  labels: ['completion_only_loss', 'assistant_only_loss', 'chat_template_path'],
});

const READ = [
  'dataset_name',
  'datasets',
  'model_name_or_path',
  'chat_template_path',
  'eos_token',
  'max_length',
  'truncation_mode',
  'packing',
  'packing_strategy',
  'dataset_text_field',
  'completion_only_loss',
  'assistant_only_loss',
] as const;

function settingsOf(
  values: JsonObject,
  keys: Keys,
  columns: readonly string[] | undefined,
): TrlSettings | Problem {
  const own = (key: string): unknown => (values[key] === undefined ? keys[key]?.default : values[key]);
  const length = lengthOf(own('max_length'));
  if (length === undefined) return { problem: `max_length ${written(values.max_length)} is not a length` };
  const completion = own('completion_only_loss');
  const { eos_token: eos, dataset_kwargs: more } = values;
  return {
    maxLength: length,
    keepEnd: own('truncation_mode') === 'keep_end',
    packing: isOn(own('packing')),
    strategy: textOf(own('packing_strategy')),
    completionOnly: completion === null ? null : isOn(completion),
    assistantOnly: isOn(own('assistant_only_loss')),
    textField: textOf(own('dataset_text_field')),
    skip: isJsonObject(more) && isOn(more.skip_prepare_dataset),
    ...(typeof eos === 'string' ? { eos } : {}),
    ...(columns === undefined ? {} : { columns }),
  };
}

/** A length, or null for none; undefined: neither. A text is converted. */
function lengthOf(value: unknown): number | null | undefined {
  if (value === null) return null;
  const length = typeof value === 'string' ? Number(value) : value;
  return typeof length === 'number' && Number.isSafeInteger(length) && length > 0 ? length : undefined;
}

/** As transformers' parser of arguments reads a text. */
function isOn(value: unknown): boolean {
  return typeof value === 'string' ? /^(?:true|yes|y|t|1|on)$/i.test(value) : value === true || value === 1;
}

/** Settings that contradict each other, whatever the data. */
function combinations(config: ConfigFile, settings: TrlSettings): SettingFault[] {
  const { values } = config;
  const faults: SettingFault[] = [];
  const say = (key: string, sentence: string, level: 'fault' | 'note' = 'fault'): void => {
    faults.push(faultOf(config, key, sentence, level));
  };
  const { packing, maxLength } = settings;
  if (packing && maxLength === null)
    say('packing', 'TRL stops: packing needs max_length, which is null here.');
  if (isOn(values.padding_free) && !packing && maxLength !== null)
    say('padding_free', 'TRL stops: without packing, padding_free needs max_length: null.');
  if (settings.keepEnd && packing)
    say('truncation_mode', 'It does nothing: with packing, TRL cuts rows as packing_strategy says.');
  else if (settings.keepEnd && maxLength === null)
    say('truncation_mode', 'It does nothing: with max_length: null no row is cut.');
  if (settings.strategy !== 'bfd' && !packing) say('packing_strategy', 'It does nothing: packing is off.');
  const attention = values.attn_implementation;
  if (
    packing &&
    settings.strategy !== 'wrapped' &&
    !(typeof attention === 'string' && /flash/.test(attention))
  )
    say(
      'packing',
      'Without Flash Attention (attn_implementation), packed examples may attend to each other: TRL warns of it.',
      'note',
    );
  if (values.datasets !== undefined && typeof values.dataset_name === 'string')
    say('dataset_name', 'It does nothing: datasets is given as well, and TRL reads that.');
  return faults;
}

interface Data {
  readonly files: readonly string[];
  readonly columns?: readonly string[];
  readonly faults: readonly SettingFault[];
}

const GO_ON = 'write the rows to a file, and name it: lossproof view rows.jsonl --config FILE';

function dataOf(config: ConfigFile, host: Host): Data | Problem {
  const { dataset_name: name, datasets } = config.values;
  if (host.dataTyped) return { files: [], faults: [] };
  if (Array.isArray(datasets) && datasets.length > 0) return mixtureOf(config, datasets, host);
  if (name === undefined || name === null) return { files: [], faults: [] };
  if (typeof name !== 'string') return { problem: `dataset_name of ${config.name} is not a text` };
  const split = config.values.dataset_train_split ?? 'train';
  if (host.kindOf(name) === 'file')
    return {
      files: [name],
      faults: [
        faultOf(
          config,
          'dataset_name',
          `load_dataset takes a folder or a name on the Hub here, not a file: TRL looks for ${name} on the Hub and stops. Write datasets: [{path: json, data_files: ${name}}].`,
        ),
      ],
    };
  if (host.kindOf(name) === 'folder') {
    const found = filesIn(name, textOf(split), host);
    return 'problem' in found ? found : { files: found.files, faults: [] };
  }
  return {
    problem: `dataset_name ${name} is not a folder here: view reads no data set from the Hub; ${GO_ON}`,
  };
}

function mixtureOf(config: ConfigFile, datasets: readonly unknown[], host: Host): Data | Problem {
  const files: string[] = [];
  const faults: SettingFault[] = [];
  let columns: readonly string[] | undefined;
  for (const [at, given] of datasets.entries()) {
    const part = `datasets[${at}]`;
    if (!isJsonObject(given)) return { problem: `${part} of ${config.name} is not a mapping` };
    // DatasetConfig(**dataset): Python refuses a keyword that it does not have.
    for (const fault of partFaults(config, {
      part,
      given,
      keys: knownOf('trl').parts.datasets ?? {},
      trainer: 'TRL',
    })) {
      const sentence = fault.sentence.replace('TRL never reads this key.', 'TRL has no such key, and stops.');
      faults.push(faultOf(config, fault.key, sentence));
    }
    const own = filesOf(given, part, host);
    if ('problem' in own) return own;
    files.push(...own.files);
    if (Array.isArray(given.columns)) columns = given.columns.map(textOf);
    if (datasets.length > 1 && given.fraction !== undefined && given.fraction !== null)
      faults.push(faultOf(config, `${part}.fraction`, 'It was not applied: all rows are shown.', 'note'));
    if (datasets.length > 1 && Array.isArray(given.columns))
      return { problem: `${part} selects columns, which view does for one data set only; ${GO_ON}` };
  }
  return { files, faults, ...(columns === undefined ? {} : { columns }) };
}

/** Builders whose files `view` reads. */
const BUILDERS: ReadonlySet<unknown> = new Set(['json', 'parquet']);

function filesOf(
  given: JsonObject,
  part: string,
  host: Host,
): { readonly files: readonly string[] } | Problem {
  const { path, data_files: named, split = 'train' } = given;
  if (typeof split !== 'string' || /[[+]/.test(split))
    return { problem: `${part} takes a part of a split (${written(split)}), which view does not; ${GO_ON}` };
  if (given.data_dir !== undefined && given.data_dir !== null)
    return { problem: `${part} has data_dir, which view does not read; ${GO_ON}` };
  if (named === undefined || named === null) {
    if (typeof path === 'string' && host.kindOf(path) === 'folder') return filesIn(path, split, host);
    return {
      problem: `${part} (path ${written(path)}) is not a folder here: view reads nothing from the Hub; ${GO_ON}`,
    };
  }
  if (!BUILDERS.has(path))
    return {
      problem: `${part} has path ${written(path)}; view reads data_files of json and parquet; ${GO_ON}`,
    };
  const own = isJsonObject(named) ? named[split] : named;
  const list = (Array.isArray(own) ? own : [own]).filter((each) => typeof each === 'string');
  if (list.length === 0) return { problem: `${part} has no data_files of the split ${split}` };
  const missing = list.find((each) => host.kindOf(each) !== 'file');
  if (missing !== undefined)
    return {
      problem: `${part}: there is no file ${missing}, from where view was started; patterns are not read`,
    };
  return { files: list };
}

/** Endings of data files, as `datasets` finds them in a folder. */
const ENDINGS: ReadonlySet<string> = new Set(['.json', '.jsonl', '.parquet']);

/** One file, or one whose name has the split: what else `datasets` finds in a folder depends on too much. */
function filesIn(folder: string, split: string, host: Host): { readonly files: readonly string[] } | Problem {
  const names = host.namesIn(folder).filter((name) => ENDINGS.has(extname(name)));
  const named = names.filter((name) => name.split(/[-_.]/).includes(split));
  const [only] = named.length === 1 ? named : names.length === 1 && split === 'train' ? names : [];
  if (only === undefined)
    return {
      problem: `in ${folder} it is not clear which file is the split ${split} (${names.length === 0 ? 'no JSON lines and no Parquet' : names.slice(0, 4).join(', ')}); ${GO_ON}`,
    };
  return { files: [join(folder, only)] };
}

function templateOf(path: string, host: Host): NonNullable<Plan['template']> | Problem {
  const kind = host.kindOf(path);
  if (kind === 'file' && /\.(?:jinja|j2)$/.test(path)) return { file: path };
  if (kind === 'folder') return { folder: path };
  return {
    problem: `chat_template_path ${path} is neither a .jinja file nor a folder here: save the template to a file, and name it with --template`,
  };
}
