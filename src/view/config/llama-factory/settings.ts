// Configurations of `llamafactory-cli train FILE`, stage sft: what they name, and which settings stop LLaMA-Factory or do
// nothing. Source: llamafactory/hparams/parser.py and data_args.py of the version in known/llama-factory.json.
import type { JsonObject } from '../../../outside/decoded.ts';
import type { TrainOn } from '../../row.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import type { Read } from '../installed.ts';
import { keyFaults, nearest, textOf, written } from '../keys.ts';
import { type Known, knownOf } from '../known.ts';
import type { Host, Opened, Plan, Reader, Seen } from '../plan.ts';
import { OPENAI_SYSTEM } from './convert.ts';
import { type DatasetEntry, entriesOf } from './info.ts';
import { factoryShapes } from './rows.ts';
import { type Encoding, fixedTokenizer, type Template, templateOf, tokensBy } from './template.ts';

export const llamaFactory: Reader = { known: 'llama-factory', plan };

// --- helpers ---

function plan(config: ConfigFile, host: Host): Plan | Problem {
  const known = knownOf('llama-factory');
  const { values } = config;
  const title = `${known.trainer} ${known.version} (stage sft)`;
  const stage = own(values, known, 'stage');
  if (stage !== 'sft' && known.keys.stage?.choices?.includes(textOf(stage)) === true)
    return { problem: `view reads ${title}; the stage of ${config.name} is ${written(stage)}` };
  const { tokenized_path: cache, model_name_or_path: model, template: name } = values;
  if (typeof cache === 'string' && host.kindOf(cache) === 'folder')
    return {
      problem: `tokenized_path ${cache} is there, and LLaMA-Factory then reads its rows and none of the settings of ${config.name}: take the key out to see the rows that the settings make`,
    };
  const template = templateOf(name, known);
  if ('problem' in template) return template;
  const found = entriesOf(config, known, host);
  if ('problem' in found) return found;
  const faults = [
    ...keyFaults(config, known, {
      unknown: 'LLaMA-Factory stops (with ALLOW_EXTRA_ARGS=1 it does nothing)',
      text: 'kept',
      twice: 'LLaMA-Factory refuses the file',
    }),
    ...found.faults,
    ...combinations(config, known, template),
    ...found.entries.flatMap((entry) => entryFaults(config, entry)),
  ];
  const read = READ.filter((key) => values[key] !== undefined && values[key] !== null).map(
    (key) => `${key} ${written(values[key])}`,
  );
  if (values.cutoff_len === undefined)
    read.push(`cutoff_len ${known.keys.cutoff_len?.default} (LLaMA-Factory's default)`);
  const { entries } = found;
  return {
    title,
    data: entries.map(({ file }) => file),
    ...(typeof model === 'string' ? { tokenizer: model } : {}),
    refuses: {
      template: `LLaMA-Factory renders with its own template ${textOf(name)}, not with a chat template`,
    },
    read,
    faults,
    compared: comparedBy(values, known),
    open: (seen) => openFactory({ config, known, entries, template }, seen),
  };
}

/** As the fields of DataArguments have them, without those that it changes itself. */
const comparedBy = (values: JsonObject, known: Known): Read => ({
  values: Object.fromEntries(
    [
      'train_on_prompt',
      'mask_history',
      'default_system',
      'enable_thinking',
      'preserve_thinking',
      'template',
    ].map((key) => [key, own(values, known, key)]),
  ),
  ids: [
    'template',
    'default_system',
    'model_name_or_path',
    'enable_thinking',
    'preserve_thinking',
    'dataset',
  ],
  cut: ['cutoff_len', 'packing', 'neat_packing'],
  end: ['template', 'cutoff_len'],
  labels: ['train_on_prompt', 'mask_history', 'template'],
});

const READ = [
  'dataset',
  'dataset_dir',
  'model_name_or_path',
  'template',
  'cutoff_len',
  'train_on_prompt',
  'mask_history',
  'packing',
  'neat_packing',
  'default_system',
  'enable_thinking',
  'preserve_thinking',
  'max_samples',
] as const;

const own = (values: JsonObject, { keys }: Known, key: string): unknown =>
  values[key] === undefined ? keys[key]?.default : values[key];

/** As Python takes a value, since nothing converts it. */
const isTrue = (value: unknown): boolean => value !== undefined && value !== null && Boolean(value);

function combinations(config: ConfigFile, known: Known, template: Template): SettingFault[] {
  const { values } = config;
  const faults: SettingFault[] = [];
  const say = (key: string, sentence: string, level: 'fault' | 'note' = 'fault'): void => {
    faults.push(faultOf(config, key, sentence, level));
  };
  if (isTrue(values.mask_history) && isTrue(values.train_on_prompt))
    say('mask_history', 'LLaMA-Factory stops: mask_history and train_on_prompt exclude each other.');
  if (isTrue(values.interleave_probs) && own(values, known, 'mix_strategy') === 'concat')
    say(
      'interleave_probs',
      'LLaMA-Factory stops: it needs mix_strategy interleave_under, interleave_over or interleave_once.',
    );
  if (isTrue(values.neat_packing) && values.packing === false)
    say('packing', 'It does nothing: neat_packing turns packing on.');
  if (isTrue(values.packing) && !isTrue(values.neat_packing))
    say('packing', 'Without neat_packing, packed examples attend to each other.', 'note');
  if (template.class !== 'ReasoningTemplate')
    for (const key of ['enable_thinking', 'preserve_thinking'] as const)
      if (values[key] !== undefined && values[key] !== known.keys[key]?.default)
        say(key, `It does nothing: the template ${textOf(values.template)} is not one that thinks.`);
  return faults;
}

function entryFaults(
  config: ConfigFile,
  { name, formatting, ranking, tags, columns }: DatasetEntry,
): SettingFault[] {
  const faults: SettingFault[] = [];
  const say = (key: string, sentence: string, level: 'fault' | 'note' = 'fault'): void => {
    faults.push(faultOf(config, `${name}.${key}`, sentence, level));
  };
  if (ranking) say('ranking', 'LLaMA-Factory stops: a data set of pairs is not one of stage sft.');
  if (formatting === 'openai')
    say(
      'formatting',
      `With openai, LLaMA-Factory writes '${OPENAI_SYSTEM}' into the system text of each conversation.`,
      'note',
    );
  if (formatting === 'alpaca') return faults;
  if (columns.messages === undefined) say('columns', 'It names no messages: LLaMA-Factory stops.');
  for (const tag of ['role_tag', 'content_tag', 'user_tag', 'assistant_tag'] as const)
    if (tags[tag] === undefined)
      say(
        `tags.${tag}`,
        'tags leaves it out, and LLaMA-Factory then has no default for it: no row is right.',
      );
  return faults;
}

interface Made {
  readonly config: ConfigFile;
  readonly known: Known;
  readonly entries: readonly DatasetEntry[];
  readonly template: Template;
}

function openFactory({ config, known, entries, template }: Made, seen: Seen): Opened | Problem {
  const { values } = config;
  const tokenizer = fixedTokenizer(seen.tokenizer, textOf(values.template), template);
  if ('problem' in tokenizer) return tokenizer;
  if (entries.length === 0)
    return { problem: `${config.name} names no dataset, so it is not known how rows are written` };
  const length = own(values, known, 'cutoff_len');
  const cutoff = typeof length === 'number' ? length : Number.NaN;
  if (!Number.isSafeInteger(cutoff) || cutoff < 1)
    return { problem: `cutoff_len of ${config.name} is not a length` };
  const packing = isTrue(values.packing) || isTrue(values.neat_packing);
  const system = values.default_system;
  const encoding: Encoding = {
    template,
    defaultSystem: typeof system === 'string' ? system : template.defaultSystem,
    // One less with packing: data_args.py takes it off.
    cutoff: seen.maxLength ?? (packing ? cutoff - 1 : cutoff),
    ...trainedBy(values, seen.trainOn),
    thinking: own(values, known, 'enable_thinking') as boolean | null,
    preserve: isTrue(values.preserve_thinking),
    tokens: tokensBy(tokenizer),
  };
  const rows = factoryShapes({ entries, encoding, tokenizer, most: values.max_samples });
  return {
    settings: {
      tokenizer,
      shapes: rows.shapes,
      ...(encoding.trainOnPrompt ? { trainOn: 'all' as const } : {}),
    },
    faults: missingColumns(config, entries, seen.columns),
    after: () => ({
      ...rows.unsupported(),
      faults:
        isTrue(values.mask_history) && !rows.several()
          ? [
              faultOf(
                config,
                'mask_history',
                'It does nothing here: no row has more than one answer.',
                'note',
              ),
            ]
          : [],
    }),
  };
}

function trainedBy(
  values: JsonObject,
  trainOn: TrainOn | undefined,
): Pick<Encoding, 'trainOnPrompt' | 'maskHistory'> {
  if (trainOn !== undefined) return { trainOnPrompt: trainOn === 'all', maskHistory: trainOn === 'last' };
  return { trainOnPrompt: isTrue(values.train_on_prompt), maskHistory: isTrue(values.mask_history) };
}

/** example[column] of a column that no row has. */
function missingColumns(
  config: ConfigFile,
  entries: readonly DatasetEntry[],
  columns: readonly ReadonlySet<string>[],
): SettingFault[] {
  return entries.flatMap(({ name, formatting, columns: named }, at) => {
    const has = columns[at] ?? new Set<string>();
    const keys =
      formatting === 'alpaca' ? ['prompt', 'query', 'response', 'history', 'system'] : ['messages', 'system'];
    return keys.flatMap((key) => {
      const column = named[key];
      // The format openai asks for a system column with .get.
      if (column === undefined || has.has(column) || (formatting === 'openai' && key === 'system')) return [];
      const near = nearest(column, [...has]);
      const meant = near === undefined ? '' : ` Is ${near} meant?`;
      return [
        faultOf(
          config,
          `${name}.columns.${key}`,
          `LLaMA-Factory stops: no row has the column ${column}.${meant}`,
        ),
      ];
    });
  });
}
