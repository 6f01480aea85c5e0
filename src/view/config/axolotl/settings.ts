// Configurations of axolotl: what they name, and which settings stop it or do nothing. Source: axolotl/utils/schemas, which
// takes unknown keys without a word, axolotl/loaders/tokenizer.py and axolotl/utils/data of the version in known/axolotl.json.
import type { JsonObject } from '../../../outside/decoded.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import type { Read } from '../installed.ts';
import { keyFaults, written } from '../keys.ts';
import { type Known, knownOf } from '../known.ts';
import type { Host, Plan, Reader } from '../plan.ts';
import { entriesOf } from './datasets.ts';
import { openAxolotl } from './open.ts';
import { CHATML, templateNamed } from './template.ts';

export const axolotl: Reader = { known: 'axolotl', plan };

// --- helpers ---

function plan(config: ConfigFile, host: Host): Plan | Problem {
  const known = knownOf('axolotl');
  const { values } = config;
  const other = OTHER.find(
    ({ key, off }) => values[key] !== undefined && values[key] !== null && values[key] !== off,
  );
  if (other !== undefined) return { problem: `${other.key} of ${config.name}: ${other.why}` };
  const found = entriesOf(config, known, host);
  if ('problem' in found) return found;
  const { entries } = found;
  const { base_model: model, tokenizer_config: tokenizer } = values;
  const folder = typeof tokenizer === 'string' ? tokenizer : model;
  const templates = entries
    .filter(({ kind }) => kind === 'chat_template')
    .map(({ given }) => templateNamed(values, given));
  const [template = templateNamed(values, {})] = templates;
  if (templates.some((each) => JSON.stringify(each) !== JSON.stringify(template)))
    return {
      problem: `the data sets of ${config.name} have chat templates of their own, and view renders with one: view them one by one`,
    };
  const read = READ.filter(
    (key) => !(host.dataTyped && key === 'datasets') && values[key] !== undefined && values[key] !== null,
  ).map((key) => `${key} ${written(values[key])}`);
  if (values.sequence_len === undefined)
    read.push(`sequence_len ${known.keys.sequence_len?.default} (axolotl's default)`);
  return {
    title: `${known.trainer} ${known.version} (axolotl train)`,
    data: entries.map(({ file }) => file),
    ...(typeof folder === 'string' ? { tokenizer: folder } : {}),
    ...sourceOf(template, host),
    read,
    compared: comparedBy(values, known),
    faults: [
      ...keysOf(config, known),
      ...found.faults,
      ...combinations(
        config,
        entries.some(({ kind }) => kind === 'chat_template'),
      ),
    ],
    open: (seen) =>
      openAxolotl(
        { config, known, entries, template, model: typeof folder === 'string' ? folder : '' },
        seen,
      ),
  };
}

/** What makes other rows, or none that lie in a file. */
const OTHER: readonly { readonly key: string; readonly why: string; readonly off?: unknown }[] = [
  { key: 'rl', why: 'view reads supervised training of axolotl' },
  { key: 'reward_model', why: 'view reads supervised training of axolotl', off: false },
  { key: 'process_reward_model', why: 'view reads supervised training of axolotl', off: false },
  { key: 'pretraining_dataset', why: 'the rows are streamed, and view reads files' },
  { key: 'streaming', why: 'the rows are streamed, and view reads files', off: false },
  {
    key: 'skip_prepare_dataset',
    why: 'the rows are made by a collator, which view does not ask',
    off: false,
  },
  { key: 'processor_type', why: 'rows with images are not made' },
  { key: 'tokenizer_use_mistral_common', why: 'view has no tokenizer of mistral-common', off: false },
  { key: 'added_tokens_overrides', why: 'it changes the tokenizer, which view does not' },
];

const comparedBy = (values: JsonObject, known: Known): Read => ({
  values: Object.fromEntries(
    ['sequence_len', 'train_on_inputs'].map((key) => [key, values[key] ?? known.keys[key]?.default]),
  ),
  ids: ['chat_template', 'special_tokens', 'base_model', 'tokenizer_config', 'datasets'],
  cut: ['sequence_len', 'excess_length_strategy'],
  end: ['special_tokens', 'eot_tokens', 'sequence_len'],
  labels: ['train_on_inputs', 'eot_tokens', 'datasets'],
});

const READ = [
  'datasets',
  'base_model',
  'tokenizer_config',
  'chat_template',
  'sequence_len',
  'excess_length_strategy',
  'sample_packing',
  'train_on_inputs',
  'eot_tokens',
  'special_tokens',
] as const;

function sourceOf(template: ReturnType<typeof templateNamed>, host: Host): Pick<Plan, 'template'> {
  if ('jinja' in template)
    return {
      template:
        host.kindOf(template.jinja) === 'file' ? { file: template.jinja } : { source: template.jinja },
    };
  return template.name === 'chatml' ? { template: { source: CHATML } } : {};
}

/** Keys of the file that axolotl drops without a word. */
function keysOf(config: ConfigFile, known: Known): SettingFault[] {
  const parts = known.parts.datasets ?? {};
  const plugged = Array.isArray(config.values.plugins) && config.values.plugins.length > 0;
  return keyFaults(config, known, {
    unknown: 'it is dropped without a word',
    text: 'converted',
    twice: 'axolotl takes the last and says nothing',
  }).map((fault) => {
    if (Object.hasOwn(known.keys, fault.key)) return fault;
    if (Object.hasOwn(parts, fault.key))
      return { ...fault, sentence: `It does nothing here: ${fault.key} is a key of an entry of datasets.` };
    // YAML anchors are kept under names that begin so, and a plug-in has keys of its own.
    return plugged || /^[x_.]/.test(fault.key) ? { ...fault, note: true as const } : fault;
  });
}

function combinations(config: ConfigFile, chats: boolean): SettingFault[] {
  const { values } = config;
  const faults: SettingFault[] = [];
  const say = (key: string, sentence: string, level: 'fault' | 'note' = 'fault'): void => {
    faults.push(faultOf(config, key, sentence, level));
  };
  const given = (key: keyof JsonObject): boolean => values[key] !== undefined && values[key] !== null;
  if (values.chat_template === 'jinja' && !given('chat_template_jinja'))
    say('chat_template', 'axolotl stops: jinja needs chat_template_jinja.');
  if (given('default_system_message') && values.chat_template !== 'chatml')
    say('default_system_message', 'It does nothing: axolotl writes it into chat_template chatml alone.');
  else if (given('default_system_message'))
    say(
      'default_system_message',
      'It does nothing: the template chatml has no system text that it could replace.',
    );
  if (given('eot_tokens') && !chats) say('eot_tokens', 'It does nothing: only type chat_template reads it.');
  if (values.sample_packing !== true)
    for (const key of [
      'sample_packing_sequentially',
      'sample_packing_group_size',
      'sample_packing_bin_size',
    ] as const)
      if (given(key)) say(key, 'It does nothing: sample_packing is off.');
  if (given('eval_sequence_len') && !given('test_datasets') && !(Number(values.val_set_size) > 0))
    say('eval_sequence_len', 'It does nothing: there is neither val_set_size nor test_datasets.', 'note');
  return faults;
}
