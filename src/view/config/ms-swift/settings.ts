// Configurations of `swift sft`: a script with its options, or a file of YAML or JSON. Source: swift/arguments,
// swift/pipelines/base.py and swift/dataset of the version in known/ms-swift.json.
import { extname } from 'node:path';
import { isJsonObject } from '../../../outside/decoded.ts';
import type { Problem, SettingFault } from '../fault.ts';
import { type ConfigFile, faultOf } from '../file.ts';
import { keyFaults, nearest, textOf, written } from '../keys.ts';
import { type Known, knownOf } from '../known.ts';
import type { Host, Plan, Reader } from '../plan.ts';
import { isComputed } from '../shell.ts';
import { openSwift } from './open.ts';
import type { SwiftSettings, SwiftTemplate } from './rows.ts';

export const msSwift: Reader = { known: 'ms-swift', plan };

// --- helpers ---

function plan(given: ConfigFile, host: Host): Plan | Problem {
  const known = knownOf('ms-swift');
  const { trainer, version } = known;
  const config = wholeNames(given, known);
  const { values, name, command } = config;
  if (command !== undefined && command.word !== 'swift sft')
    return { problem: `view reads \`swift sft\`, and ${name} starts \`${command.word}\`` };
  const other = OTHER.find(
    ({ key, off }) => values[key] !== undefined && values[key] !== null && !off.includes(textOf(values[key])),
  );
  if (other !== undefined) return { problem: `${other.key} of ${name}: ${other.why}` };
  const computed = READ.find((key) => isComputed(textOf(values[key] ?? '')));
  if (computed !== undefined && !(host.dataTyped && computed === 'dataset'))
    return {
      problem: `${computed} is ${written(values[computed])}, which only the shell that starts the training knows: write the value itself`,
    };
  const template = templateOf(values.template, known);
  if ('problem' in template) return template;
  const files = host.dataTyped ? { names: [] } : filesOf(values.dataset, host);
  if ('problem' in files) return files;
  const system = values.system;
  if (typeof system === 'string' && system.endsWith('.txt'))
    return { problem: `system ${system} is a file, which view does not read: write the text itself` };
  const strategy = textOf(values.loss_scale ?? 'default');
  const settings: SwiftSettings = {
    template,
    // One that is unknown is said of the setting.
    strategy: unknownIn(strategy) === undefined ? strategy : 'default',
    truncation: textOf(values.truncation_strategy ?? 'delete'),
    ...(typeof system === 'string' ? { system } : {}),
  };
  const model = values.model;
  const read = READ.filter((key) => values[key] !== undefined && values[key] !== null).map(
    (key) => `${key} ${written(values[key])}`,
  );
  if (values.max_length === undefined) read.push("max_length (the model's own, by which no row is cut here)");
  return {
    title: `${trainer} ${version} (swift sft)`,
    data: files.names,
    ...(typeof model === 'string' ? { tokenizer: model } : {}),
    refuses: {
      template: `${trainer} renders with its own template ${textOf(values.template)}, not with a chat template`,
    },
    read,
    faults: [
      ...keyFaults(config, known, {
        unknown: 'it stops the run (with ignore_args_error it does nothing)',
        text: 'converted',
        twice: `${trainer} takes the last and says nothing`,
      }),
      ...combinations(config, settings),
    ],
    open: (seen) => openSwift(config, settings, seen),
  };
}

const READ = [
  'dataset',
  'model',
  'template',
  'system',
  'max_length',
  'truncation_strategy',
  'loss_scale',
  'packing',
  'agent_template',
];

/** What makes other rows, or none that lie in a file. */
const OTHER: readonly { readonly key: string; readonly why: string; readonly off: readonly string[] }[] = [
  { key: 'streaming', why: 'the rows are streamed, and view reads files', off: ['false', 'False'] },
  { key: 'columns', why: 'it renames columns, which view does not: rename them in the data', off: ['{}'] },
  { key: 'custom_register_path', why: 'it is code of your own, which view does not run', off: ['[]', ''] },
  { key: 'external_plugins', why: 'it is code of your own, which view does not run', off: ['[]', ''] },
  {
    key: 'custom_dataset_info',
    why: 'it names data sets of your own, which view does not read',
    off: ['[]', ''],
  },
  { key: 'task_type', why: 'view reads causal_lm', off: ['causal_lm'] },
  { key: 'template_backend', why: 'view makes rows of the backend swift', off: ['swift'] },
  { key: 'use_chat_template', why: 'view makes rows with a template', off: ['true', 'True'] },
  { key: 'cached_dataset', why: 'its rows were made before', off: ['[]', ''] },
  {
    key: 'new_special_tokens',
    why: 'it adds tokens to the tokenizer, and view does not make such rows',
    off: ['[]', ''],
  },
  { key: 'response_prefix', why: 'view does not put it before answers', off: [''] },
];

/** Dashes are underscores, and argparse takes the beginning of a name. */
function wholeNames(given: ConfigFile, { keys }: Known): ConfigFile {
  const values: Record<string, unknown> = {};
  const lines = new Map(given.lines);
  const names = Object.keys(keys);
  for (const [key, value] of Object.entries(given.values)) {
    const flat = key.replaceAll('-', '_');
    const begun = names.filter((name) => name.startsWith(flat));
    const own = Object.hasOwn(keys, flat)
      ? flat
      : begun.length === 1 && begun[0] !== undefined
        ? begun[0]
        : key;
    values[own] = value;
    const line = given.lines.get(key);
    if (line !== undefined) lines.set(own, line);
  }
  return { ...given, values, lines };
}

function templateOf(name: unknown, { templates, trainer, version }: Known): SwiftTemplate | Problem {
  if (typeof name !== 'string')
    return {
      problem: `the configuration names no template, and ${trainer} then derives one from the model, which view does not: name one with template`,
    };
  const made: unknown = Object.hasOwn(templates, name) ? templates[name] : undefined;
  if (!isJsonObject(made)) {
    const near = nearest(name, Object.keys(templates));
    return {
      problem: `${trainer} ${version} has no template ${name}${near === undefined ? '' : `; is ${near} meant?`}`,
    };
  }
  // Written by scripts/view-config/known.py.
  return made.text === true
    ? (made as unknown as SwiftTemplate)
    : {
        problem: `the template ${name} writes rows in a way that view does not know (thoughts, images, or code of its own): nothing is shown rather than something wrong`,
      };
}

const GO_ON = 'write the rows to a file, and name it: lossproof view rows.jsonl --config FILE';

function filesOf(given: unknown, host: Host): { readonly names: readonly string[] } | Problem {
  const list = Array.isArray(given)
    ? given.map(textOf)
    : typeof given === 'string'
      ? given.split(/\s+/).filter(Boolean)
      : [];
  if (list.length === 0) return { names: [] };
  const other = list.find((name) => !['.json', '.jsonl', '.parquet'].includes(extname(name)));
  if (other !== undefined)
    return {
      problem: `dataset ${other} is no file of JSON lines or Parquet (${/#\d+$/.test(other) ? 'it takes some rows of one at random' : 'view downloads nothing'}); ${GO_ON}`,
    };
  const missing = list.find((name) => !isComputed(name) && host.kindOf(name) !== 'file');
  return missing === undefined
    ? { names: list }
    : { problem: `dataset: there is no file ${missing}, from where view was started; ${GO_ON}` };
}

/** Words of loss_scale that these rules know; the others weigh parts of an answer. */
const STRATEGIES = ['default', 'last_round', 'all'];
const WEIGHING = [
  'base',
  'ignore_empty_think',
  'ignore_think_prefix',
  'react',
  'hermes',
  'qwen',
  'agentflan',
  'alpha_umi',
];

const unknownIn = (strategy: string): string | undefined =>
  strategy.split('+').find((word) => ![...STRATEGIES, ...WEIGHING].includes(word));

function combinations(config: ConfigFile, { template, system }: SwiftSettings): SettingFault[] {
  const { values } = config;
  const faults: SettingFault[] = [];
  const say = (key: string, sentence: string, level: 'fault' | 'note' = 'fault'): void => {
    faults.push(faultOf(config, key, sentence, level));
  };
  const unknown = unknownIn(textOf(values.loss_scale ?? 'default'));
  if (unknown !== undefined) {
    const near = nearest(unknown, [...STRATEGIES, ...WEIGHING]);
    say(
      'loss_scale',
      `ms-swift stops: it has no loss_scale ${unknown}.${near === undefined ? '' : ` Is ${near} meant?`}`,
    );
  }
  if (system !== undefined && template.systemPrefix === null && template.systemPrompt === null)
    say('system', `ms-swift stops: the template ${textOf(values.template)} has no place for a system text.`);
  if (values.truncation_strategy !== undefined && values.max_length === undefined)
    say(
      'truncation_strategy',
      'It counts for rows beyond what the model can take: max_length is not set.',
      'note',
    );
  if (values.truncation_strategy === 'split')
    say('truncation_strategy', 'ms-swift stops: split is for `swift pt` alone.');
  const packing = values.packing === true || /^(?:true|1|yes)$/i.test(textOf(values.packing ?? ''));
  for (const key of ['packing_length', 'packing_num_proc'])
    if (values[key] !== undefined && !packing) say(key, 'It does nothing: packing is off.');
  return faults;
}
